import HTTPTypes
import Runway
import RunwayJSON
import RunwayTransport

/// The examples of README.md. They are compiled and not run, since they call a server of somebody else's.
func readmeExamples() async throws {
    enum GitHub: APIService {
        static let environments: [ServiceEnvironment: String] = [.release: "https://api.github.com"]
    }
    let network = NetworkLayer(transport: try NIOTransport())
    let repository = try await network.call(GitHub.get("repos/apple/swift-nio"))
    print(repository["stargazers_count"].int ?? 0)

    do throws(NetworkError) {
        print(try await network.call(GitHub.get("repos/apple/no-such"))["full_name"].string ?? "")
    } catch {
        switch error.kind {
        case .noNetwork, .timedOut: print("Check your connection.")
        case .refused: print("The server refused it: \(error.status?.code ?? 0).")
        default: print(error)
        }
    }

    struct Repository: Endpoint {
        static let service = GitHub.self
        @Unencoded var name: String
        var path: EndpointPath { "repos/apple/\(name)" }
    }
    @MainActor final class RepositoryController: APIManagerDelegate {
        let network: NetworkLayer
        lazy var repository = APIManager<Repository>(on: network, delegate: self)
        var headline = ""
        init(network: NetworkLayer) { self.network = network }
        func open(_ name: String) { repository.load(Repository(name: name)) }
        func apiManagerDidSucceed(_ manager: any APIManaging) {
            do { headline = try manager.fetch(HeadlineReformer()) } catch { headline = "\(error)" }
        }
        func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { headline = "\(error)" }
    }
    struct HeadlineReformer: Reformer {
        func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> String {
            "\(try rawData["full_name"].require(String.self)): \(rawData["description"].string ?? "")"
        }
    }
    await RepositoryController(network: network).open("swift-nio")
}

/// The example of ``GetEndpoint``.
func getExample(on network: NetworkLayer) async throws {
    enum GitHub: APIService {
        static let environments: [ServiceEnvironment: String] = [.release: "https://api.github.com"]
    }
    let repository = try await network.call(GitHub.get("repos/apple/swift-nio"))
    let issues = try await network.call(GitHub.get("repos/apple/swift-nio/issues", ["state": "closed", "page": 2]))
    print(repository, issues)
}
