import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import RunwayJSON
import RunwaySignatures
import Synchronization
import Testing

@testable import RunwayServer

/// Bodies that end before their `Content-Length`, with the connection.
@Suite(.timeLimit(.minutes(5)))
struct CutBodyTests {
    /// A prefix of the body, then the end of the connection.
    @Test(arguments: [0, 5, 8])
    func bodyThatIsCutShortReachesNoHandler(count: Int) async throws {
        try await withSignedServer { server in
            let call = SignedCall.post("amount=12")
            var request = TransitRequest(try await call.signed(), body: call.body)
            let whole = request.text()
            let cut = String(whole.dropLast(call.body.count - count))
            #expect(whole.contains("Content-Length: \(call.body.count)"))
            let reply = try await Self.exchange(cut, port: server.port)
            #expect(!reply.contains("200 OK"), "\(reply)")
            // The server has closed the connection, and so is done with the request.
            #expect(server.handled.value == 0)
            // As a gateway sends it again that has lost its connection.
            request.body = call.body
            #expect(try await server.send(request, to: server.port).status == "200")
            #expect(try await server.send(request, to: server.port).status == "401", "The nonce is used")
            #expect(server.handled.value == 1)
        }
    }

    @Test func changedBodyLeavesTheNonceUnused() async throws {
        try await withSignedServer { server in
            let call = SignedCall.post("amount=12")
            let request = try await call.signed()
            let refused = try await server.send(request, body: Array("amount=99".utf8))
            #expect(try refused.status == 400 && refused.reason == "body" && server.handled.value == 0)
            // A copy with the signed body can still be accepted.
            #expect(try refused.problem["acceptedUntil"].int64 == (ServerTime.start + .seconds(120)).seconds)
            #expect(try await server.send(request, body: call.body).status == 200)
            #expect(try await server.send(request, body: call.body).reason == "replayed")
            #expect(server.handled.value == 1)
        }
    }

    @Test func streamedBodyUsesTheNonceUpBeforeItIsRead() async throws {
        try await withSignedServer(rules: { $0.streamsBody = { _ in true } }) { server in
            let call = SignedCall.post("amount=12")
            let request = try await call.signed()
            #expect(try await server.send(request, body: Array("amount=99".utf8)).status == 400)
            #expect(try await server.send(request, body: call.body).reason == "replayed")
        }
    }

    /// Each body is read while the one before it is.
    @Test func fewCopiesOfARequestAreReadAtOnce() async throws {
        let verifier = try Self.verifier()
        let call = SignedCall.post("amount=12")
        var head = try await call.signed()
        head.headerFields[.contentLength] = "9"
        let (reasons, reads) = (Reasons(), Count())
        /// Verifies a copy. Its body ends when further copies were verified.
        @Sendable func verify(_ head: HTTPRequest, depth: Int) async {
            let parts = AsyncStream<ByteBuffer> {
                reads.add()
                if depth < 4 { await verify(head, depth: depth + 1) }
                return nil
            }
            let body = RequestBody(asyncSequence: parts)
            do {
                _ = try await verifier.verify(Request(head: head, body: body)) { refusal in
                    RefusedRequest(refusal: refusal, accepted: nil, isExplained: false)
                }
            } catch {
                reasons.append((error as? SignatureRefusal)?.reason)
            }
        }
        await verify(head, depth: 0)
        #expect(reasons.value == [.replayed, .body, .body] && reads.value == 2)
        // Nothing of the nonce is left when all of them have ended.
        let whole = Request(head: head, body: RequestBody(buffer: ByteBuffer(bytes: call.body)))
        _ = try await verifier.verify(whole) { refusal in
            RefusedRequest(refusal: refusal, accepted: nil, isExplained: false)
        }
    }

    /// The reasons of refusals in their order.
    private final class Reasons: Sendable {
        private let reasons = Mutex<[SignatureRefusal.Reason?]>([])
        var value: [SignatureRefusal.Reason?] { reasons.withLock { $0 } }
        func append(_ reason: SignatureRefusal.Reason?) { reasons.withLock { $0.append(reason) } }
    }

    private static func verifier() throws -> RequestVerifier {
        let rules = SignatureRules(tag: "app", origin: PublicOrigin("api.example.com"))
        let keys = InMemoryKeyDirectory([KeyRecord(id: "k-1", key: try .hmac(SignedServer.secret), owner: "anna")])
        return RequestVerifier(
            rules: rules, keys: keys,
            signatures: SignatureVerifier(
                policy: rules.policy, keys: keys, nonces: NonceMemory(startedAt: ServerTime.start - .seconds(60))),
            digests: nil, now: { ServerTime.start })
    }

    @Test func errorOfTheBodyIsThrownBeforeTheHandler() async throws {
        struct Lost: Error {}
        let verifier = try Self.verifier()
        let call = SignedCall.post("amount=12")
        var head = try await call.signed()
        head.headerFields[.contentLength] = "9"
        let parts = AsyncThrowingStream<ByteBuffer, any Error> { continuation in
            continuation.yield(ByteBuffer(bytes: call.body))
            continuation.finish(throwing: Lost())
        }
        let request = Request(head: head, body: RequestBody(asyncSequence: parts))
        await #expect(throws: Lost.self) {
            _ = try await verifier.verify(request) { refusal in
                RefusedRequest(refusal: refusal, accepted: nil, isExplained: false)
            }
        }
    }

    /// Sends bytes, ends the sending half of the connection, and returns everything that comes until the server closes it.
    private static func exchange(_ text: String, port: Int) async throws -> String {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: text))
            outbound.finish()
            var received = ""
            for try await part in inbound { received += String(buffer: part) }
            return received
        }
    }
}
