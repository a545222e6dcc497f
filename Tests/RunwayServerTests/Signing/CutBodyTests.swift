import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import RunwaySignatures
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
            let reply = try await Self.exchange([cut], server)
            #expect(!reply.contains("200 OK"), "\(reply)")
            // The server has closed the connection, and so is done with the request.
            #expect(server.handled.value == 0)
            request.body = call.body
            #expect(try await server.send(request, to: server.port).status == "401", "The nonce is used")
            #expect(server.handled.value == 0)
        }
    }

    @Test func bodyErrorIsThrownBeforeTheHandler() async throws {
        struct Lost: Error {}
        let rules = SignatureRules(tag: "app", origin: PublicOrigin("api.example.com"))
        let keys = InMemoryKeyDirectory([KeyRecord(id: "k-1", key: try .hmac(SignedServer.secret), owner: "anna")])
        let verifier = RequestVerifier(
            rules, keys: keys, nonces: NonceMemory(startedAt: ServerTime.start - .seconds(60)),
            now: { ServerTime.start })
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
    ///
    /// - Parameter pause: What happens between two parts.
    static func exchange(
        _ parts: [String], _ server: SignedServer, _ pause: () async throws -> Void = {}
    ) async throws -> String {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: server.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            for (index, part) in parts.enumerated() {
                if index > 0 { try await pause() }
                try await outbound.write(ByteBuffer(string: part))
            }
            outbound.finish()
            var received = ""
            for try await part in inbound { received += String(buffer: part) }
            return received
        }
    }
}
