import Crypto
import Foundation
import HTTPTypes
import RunwayServer
import RunwayServerStorage
import RunwaySignatures
import Testing

/// Signatures that arrive a second time, and servers that can't know whether they do.
@Suite(.timeLimit(.minutes(5)))
struct ReplayTests {
    /// Two instances of the middleware that share one memory of nonces, as those of a server with two routers do.
    @Test func sharedStoreAcceptsANonceOnce() async throws {
        let nonces = NonceMemory(startedAt: ServerTime.start - .seconds(3_600), maximumNonces: 100)
        let keys = InMemoryKeyDirectory([KeyRecord(id: "k-1", key: try .hmac(SignedServer.secret), owner: "anna")])
        try await withSignedServer(nonces: nonces, directory: keys) { first in
            try await withSignedServer(nonces: nonces, directory: keys) { second in
                let requests = try await [SignedCall().signed(), SignedCall().signed()]
                #expect(try await first.send(requests[0]).status == 200)
                #expect(try await second.send(requests[0]).reason == "replayed")
                let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for number in 0..<16 {
                        let server = number.isMultiple(of: 2) ? first : second
                        group.addTask { try await server.send(requests[1]).status == 200 }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(accepted == 1)
                // A store of its own cannot know: that is what the documentation warns of.
                try await withSignedServer(directory: keys) { third async throws in
                    #expect(try await third.send(requests[0]).status == 200)
                }
            }
        }
    }

    @Test(arguments: SignedServer.Wire.allCases)
    func replayIsRefused(_ wire: SignedServer.Wire) async throws {
        try await withSignedServer(wire) { server in
            let request = try await SignedCall().signed()
            #expect(try await server.send(request).status == 200)
            #expect(try await server.send(request).reason == "replayed")
            #expect(server.handled.value == 1)
        }
    }

    @Test func refusalOfAReplayOffersNoNonce() async throws {
        try await withSignedServer(rules: { $0.policy.serverNonces = ServerNonces() }) { server in
            let request = try await SignedCall().signed()
            #expect(try await server.send(request).status == 200)
            let refused = try await server.send(request)
            let wanted = try #require(try refused.fields.signatureRequests().first)
            #expect(try refused.reason == "replayed" && wanted.nonce == nil && wanted.tag == "app")
        }
    }

    @Test func restartedServerRefusesReplaysAndAcceptsNewRequests() async throws {
        let folder = try UploadFolder()
        let requests = try await [SignedCall().signed(), SignedCall().signed()]
        for run in 0..<2 {
            // The second server starts when both requests have been signed.
            let startedAt = ServerTime.start + .seconds(run == 0 ? -60 : 1)
            let nonces = try SQLiteNonceStore(at: folder.url.appending(path: "nonces.sqlite"), startedAt: startedAt)
            try await withSignedServer(nonces: nonces) { server async throws in
                if run == 0 {
                    #expect(try await server.send(requests[0]).status == 200)
                } else {
                    #expect(try await server.send(requests[0]).reason == "replayed")
                    #expect(try await server.send(requests[1]).status == 200)
                }
            }
            try await nonces.close()
        }
    }

    @Test func oneOfManySimultaneousReplaysIsAccepted() async throws {
        try await withSignedServer { server in
            let request = try await SignedCall().signed()
            let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<16 { group.addTask { try await server.send(request).status == 200 } }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(accepted == 1)
            #expect(server.handled.value == 1)
        }
    }

    /// The middleware's own store of nonces begins with the server.
    @Test func serverThatHasJustStartedOffersItsNonce() async throws {
        try await withSignedServer(isFresh: true) { server in
            var call = SignedCall()
            let refused = try await call.send(to: server)
            #expect(try refused.reason == "nonceUnknown")
            call.nonce = try #require(try refused.fields.signatureRequests().first?.nonce)
            #expect(try await call.send(to: server).status == 200)
            #expect(try await call.send(to: server).reason == "replayed")
        }
    }
}
