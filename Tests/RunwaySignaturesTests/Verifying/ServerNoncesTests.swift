import Testing

@testable import RunwaySignatures

/// Nonces that the server issues: for clients whose clocks are far off.
struct ServerNoncesTests {
    private static let now = Exchange.now

    @Test func aClientWithAWrongClockIsAccepted() async throws {
        let nonces = ServerNonces()
        var exchange = try Exchange()
        exchange.policy.serverNonces = nonces
        exchange.created = UnixTime(seconds: 7)
        exchange.expires = UnixTime(seconds: 8)
        #expect(try await exchange.refusal() == .tooOld)
        exchange.nonce = nonces.issue(at: Self.now - .seconds(60))
        #expect(try await exchange.refusal() == nil)
        #expect(try await exchange.refusal() == .replayed)
    }

    @Test func theAgeOfTheNonceCounts() async throws {
        let nonces = ServerNonces()
        var exchange = try Exchange()
        exchange.policy.serverNonces = nonces
        exchange.nonce = nonces.issue(at: Self.now - .seconds(121))
        #expect(try await exchange.refusal() == .tooOld)
        exchange.nonce = nonces.issue(at: Self.now + .seconds(31))
        #expect(try await exchange.refusal() == .inFuture)
    }

    @Test func nonceOfAnotherKeyIsRefused() async throws {
        var exchange = try Exchange()
        exchange.nonce = ServerNonces().issue(at: Self.now)
        exchange.policy.serverNonces = ServerNonces()
        #expect(try await exchange.refusal() == .nonceUnknown)
        // Without nonces of the server, it is one of the client's.
        exchange.policy.serverNonces = nil
        #expect(try await exchange.refusal() == nil)
    }

    @Test func serverNonceIsAcceptedRightAfterTheStart() async throws {
        let nonces = ServerNonces()
        var exchange = try Exchange()
        exchange.policy.serverNonces = nonces
        exchange.nonces = NonceMemory(startedAt: Self.now)
        #expect(try await exchange.refusal() == .nonceUnknown)
        exchange.nonce = nonces.issue(at: Self.now - .seconds(1))
        #expect(try await exchange.refusal() == .nonceUnknown)
        exchange.nonce = nonces.issue(at: Self.now)
        #expect(try await exchange.refusal() == nil)
    }

    @Test func onlyTheOwnNoncesAreRecognised() {
        let nonces = ServerNonces()
        let issued = nonces.issue(at: Self.now)
        #expect(nonces.time(of: issued) == Self.now)
        #expect(ServerNonces().time(of: issued) == nil)
        #expect(nonces.issue(at: Self.now) != issued)
        for index in issued.indices {
            var changed = issued
            changed.replaceSubrange(index...index, with: issued[index] == "A" ? "B" : "A")
            // The last character has bits that are not part of a byte.
            #expect(nonces.time(of: changed) == nil || index == issued.index(before: issued.endIndex))
        }
        for text in [
            "", "n-1", "s1.", "s1." + String(repeating: "A", count: 54), String(issued.dropFirst(3)), issued + "A",
        ] {
            #expect(nonces.time(of: text) == nil)
        }
        #expect("\(nonces)" == "ServerNonces")
    }
}
