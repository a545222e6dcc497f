import Runway

// The example for those who come from Alamofire, line by line. It is compiled and not run.

enum FromAlamofire {
    enum GitHub: APIService {
        static let environments: [ServiceEnvironment: String] = [.release: "https://api.github.com"]
    }
    struct Repository: Endpoint {
        static let service = GitHub.self
        @Unencoded var name: String
        var path: EndpointPath { "repos/apple/\(name)" }
    }
    struct RepositoryRow: Decodable { var full_name: String }

    func show(_ name: String, on network: NetworkLayer) async throws(NetworkError) -> String {
        try await network.call(Repository(name: name), as: RepositoryRow.self).full_name
    }
}
