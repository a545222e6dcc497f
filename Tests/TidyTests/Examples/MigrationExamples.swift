import Foundation
import Runway

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// The examples for those who come from Alamofire and from URLSession, line by line. They are compiled and not run.

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

/// The half of URLSession.
enum FromURLSession {
    struct Home: Decodable { let title: String }

    @MainActor final class HomesController {
        private(set) var titles: [String] = []
        private(set) var message: String?
        private(set) var isLoading = false
        private var city = ""
        private var task: Task<Void, Never>?
        deinit { task?.cancel() }
        func open(_ city: String) {
            self.city = city
            task?.cancel()
            isLoading = true
            task = Task { [weak self] in
                let result: Result<[Home], any Error>
                do {
                    var components = URLComponents(string: "https://estate.example/homes")
                    components?.queryItems = [URLQueryItem(name: "city", value: city)]
                    guard let url = components?.url else { throw URLError(.badURL) }
                    let (data, response) = try await URLSession.shared.data(from: url)
                    guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
                    result = .success(try JSONDecoder().decode([Home].self, from: data))
                } catch { result = .failure(error) }
                guard let self, !Task.isCancelled else { return }
                isLoading = false
                switch result {
                case .success(let homes): (titles, message) = (homes.map(\.title), nil)
                case .failure(let error): message = error.localizedDescription
                }
            }
        }
        func retry() { open(city) }
    }
}
