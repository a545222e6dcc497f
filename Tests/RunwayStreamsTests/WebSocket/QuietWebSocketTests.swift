import Foundation
import Runway
import RunwayStreams
import RunwayTesting
import RunwayTransport
import Testing

/// A server that says nothing for longer than reverse proxies wait, which `Scripts/websockets.sh quiet` starts.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["RUNWAY_WEBSOCKETS"] != nil))
struct QuietWebSocketTests {
    static let servers = (ProcessInfo.processInfo.environment["RUNWAY_WEBSOCKETS"] ?? "").split(separator: " ").map(
        String.init)

    private enum QuietService: APIService {
        static let environments: [ServiceEnvironment: String] = [:]
    }

    private struct Quiet: Endpoint {
        static let service = QuietService.self
        let path: EndpointPath = "quiet"
        func encode(to encoder: any Encoder) {}
    }

    @Test(arguments: servers)
    func pingsKeepAQuietConnection(server: String) async throws {
        let network = NetworkLayer(
            transport: try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300))),
            pipeline: .tested)
        network.configure(QuietService.self) { $0.baseURLs = [.release: server] }
        var elements: [String] = []
        // The server speaks after 75 s, and proxies cut what is silent after 50 or 60 s.
        for try await element in network.webSocket(Quiet()) {
            switch element {
            case .connected(let link): elements.append("connection \(link.number)")
            case .message(let message): elements.append("\(message)")
            }
            if elements.count == 2 { break }
        }
        #expect(elements.first == "connection 1")
        #expect(elements.last?.contains("still here") == true, "\(elements)")
    }
}
