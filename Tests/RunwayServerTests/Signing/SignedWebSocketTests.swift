import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Runway
import RunwaySignatures
import RunwaySigning
import RunwayStreams
import RunwayTestServer
import RunwayTransport
import Testing

@testable import RunwayServer

/// The handshake of a WebSocket as a call: its token is renewed, and a server verifies its signature.
@Suite(.timeLimit(.minutes(5)))
struct SignedWebSocketTests {
    private struct Socket: Runway.Endpoint {
        static let service = Feed.self
        var path: Runway.EndpointPath { "chat" }
        func encode(to encoder: any Encoder) {}
    }

    private struct DeviceKey: RequestKeyStore {
        let key: RequestKey

        func key(for owner: KeyOwner) -> RequestKey? { key }
    }

    /// Sends requests for the public origin to the server of a test, as a proxy does that terminates TLS.
    private struct BehindProxy: Transport {
        let wire: any Transport
        let authority: String

        func send(_ request: Runway.Request, in flight: Flight) async throws(NetworkError) -> Runway.Response {
            var request = request
            request.head.scheme = "http"
            request.head.authority = authority
            return try await wire.send(request, in: flight)
        }
    }

    /// Accepts a handshake, and sends a text and the close frame with code 1000.
    private static func accept(_ request: ReceivedRequest) -> ScriptedResponse {
        let key = (request["Sec-WebSocket-Key"] ?? "") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        let acceptance = Data(Insecure.SHA1.hash(data: Data(key.utf8))).base64EncodedString()
        let head = [
            "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Accept: \(acceptance)", "", "",
        ].joined(separator: "\r\n")
        var response = ScriptedResponse.raw(
            Array(head.utf8) + [0x81, 5] + Array("hello".utf8) + [0x88, 2, 0x03, 0xE8])
        response.ending = .stayOpen
        return response
    }

    private static func verify(_ received: ReceivedRequest, by verifier: RequestVerifier) async throws {
        var head = HTTPRequest(method: .get, scheme: "http", authority: received["Host"], path: received.target)
        for field in received.fields where field.name.lowercased() != "host" {
            if let name = HTTPField.Name(field.name) {
                head.headerFields.append(HTTPField(name: name, value: field.value))
            }
        }
        let request = Hummingbird.Request(head: head, body: Hummingbird.RequestBody(buffer: ByteBuffer()))
        _ = try await verifier.verify(request) { refusal in
            RefusedRequest(refusal: refusal, accepted: nil, isExplained: false)
        }
    }

    @Test func refusedTokenIsRenewedAndEachHandshakeSigned() async throws {
        let key = P256.Signing.PrivateKey()
        let keys = InMemoryKeyDirectory([KeyRecord(id: "device", key: .p256(key.publicKey), owner: "anna")])
        let rules = SignatureRules(tag: "app", origin: PublicOrigin("api.example.com"))
        let now: @Sendable () -> UnixTime = { UnixTime(seconds: Int64(Date().timeIntervalSince1970)) }
        let verifier = RequestVerifier(
            rules, keys: keys, nonces: NonceMemory(startedAt: now() - .seconds(3600)), now: now)
        try await withScriptedOrigin { origin in
            origin.on(.get, "/chat") { request in
                // A signature that is not verified is thrown, so that the response is a 500.
                try await Self.verify(request, by: verifier)
                return request["Authorization"] == "Bearer t2" ? Self.accept(request) : .status(.unauthorized)
            }
            var pipeline = RequestPipeline()
            let device = RequestKey(id: "device", signer: SigningKey.p256(key))
            let stage = SigningStage(
                for: Feed.self, SigningPolicy(.signature(tag: "app")), keys: DeviceKey(key: device))
            pipeline.insert(stage, before: .signing)
            let transport = try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300)))
            let authority = String(origin.baseURL.dropFirst("http://".count))
            let network = NetworkLayer(
                transport: BehindProxy(wire: transport, authority: authority), pipeline: pipeline)
            network.configure(Feed.self) { $0.baseURLs = [.release: "https://api.example.com"] }
            try await network.signIn(AccessToken("t1", account: "anna"), to: Feed.self)
            var elements: [WebSocketElement] = []
            for try await element in network.webSocket(Socket()) { elements.append(element) }
            #expect(elements.count == 2 && elements.last == .message(.text("hello")))
            let requests = try await origin.waitForRequests(count: 2)
            #expect(requests.map { $0["Authorization"] } == ["Bearer t1", "Bearer t2"])
            #expect(Set(requests.compactMap { $0["Signature"] }).count == 2, "each handshake has its own")
            await transport.shutdown(waitingAtMost: .zero)
        }
    }
}
