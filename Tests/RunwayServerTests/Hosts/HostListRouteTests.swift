import Foundation
import Hummingbird
import NIOCore
import Runway
import RunwayServer
import RunwayTransport
import Testing

/// The route that serves the list of hosts, and the client that reads it.
@Suite(.timeLimit(.minutes(10)))
struct HostListRouteTests {
    private enum Hosting: APIService {
        static let name = "hosting"
        static let environments: [ServiceEnvironment: String] = [:]
        static let deadline = Duration.seconds(600)
    }

    private struct NoList: Error {}

    private func refresh(
        _ hosts: @escaping @Sendable () async throws -> [String: [String]]
    ) async throws -> (book: HostBook, error: NetworkError?) {
        let router = Router()
        HostListRoute(lifetime: .seconds(7200), hosts: hosts).add(to: router.group("v1"))
        return try await serving(router) { port in
            let network = NetworkLayer(
                transport: try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300))),
                limits: LayerLimits(admission: .none, retrying: .none))
            network.configure(Hosting.self) { $0.baseURLs = [.release: "http://127.0.0.1:\(port)/v1"] }
            let book = HostBook()
            do throws(NetworkError) {
                try await book.refreshIfDue(over: network, from: Hosting.self)
                return (book, nil)
            } catch {
                return (book, error)
            }
        }
    }

    @Test func bothHalvesAgreeOnTheFormat() async throws {
        let (book, error) = try await refresh { ["api.example.com": ["203.0.113.7", "2001:db8::7"]] }
        #expect(error == nil)
        #expect(
            try book.list
                == HostList(["api.example.com": ["203.0.113.7", "2001:db8::7"]], lifetime: .seconds(7200)))
    }

    @Test func aServerWithoutAListResponds503() async throws {
        let (book, error) = try await refresh { [:] }
        #expect(error?.status?.code == 503)
        #expect(book.list == nil)
        #expect(try await refresh { throw NoList() }.error?.status?.code == 503)
    }
}
