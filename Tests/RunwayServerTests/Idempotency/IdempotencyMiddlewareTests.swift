import Foundation
import HTTPTypes
import RunwayServer
import RunwayTesting
import Synchronization
import Testing

/// Requests with idempotency keys, over a socket.
@Suite(.timeLimit(.minutes(10)))
struct IdempotencyMiddlewareTests {
    @Test func repeatedRequestGetsTheFirstResponse() async throws {
        try await IdempotentServer.run { server in
            let first = try await server.send(key: "\"k-1\"")
            #expect(first.status == 201 && first.body == "order 1: {}" && !first.isReplayed)
            for key in ["\"k-1\"", "k-1"] {
                let again = try await server.send(key: key)
                #expect(again.status == 201 && again.body == first.body && again.isReplayed)
                #expect(again.fields["location"] == "/orders/1")
                #expect(again.fields["content-type"] == "application/json")
            }
            #expect(server.effects.value == 1)
        }
    }

    @Test func keysBelongToTheirPrincipal() async throws {
        try await IdempotentServer.run { server in
            #expect(try await server.send(key: "k", by: "ada").body == "order 1: {}")
            #expect(try await server.send(key: "k", by: "bob").body == "order 2: {}")
            let unknown = try await server.send(key: "k", by: nil)
            #expect(unknown.status == 401 && unknown.reason == "principal")
            #expect(unknown.fields["www-authenticate"] == "Bearer")
            let cut = try await server.send(key: "k", by: "ada%00x")
            #expect(cut.status == 400 && cut.reason == "unusablePrincipal")
            #expect(server.effects.value == 2)
        }
    }

    @Test func anotherRequestWithTheKeyIsRefused() async throws {
        try await IdempotentServer.run { server in
            _ = try await server.send(key: "k", body: "{}")
            for (path, body) in [("/orders", "{\"a\":1}"), ("/orders?dry=1", "{}"), ("/held", "{}")] {
                let reply = try await server.send(path, key: "k", body: body)
                #expect(reply.status == 422 && reply.reason == "mismatch")
            }
            #expect(try await server.send(key: "k", body: "{}", method: "PATCH").status == 422)
            #expect(server.effects.value == 1)
        }
    }

    @Test func requestInFlightIsNotExecutedTwice() async throws {
        try await IdempotentServer.run { server in
            async let first = server.send("/held", key: "k")
            try await server.gate.waitForArrivals()
            let second = try await server.send("/held", key: "k")
            #expect(second.status == 409 && second.reason == "inFlight" && second.fields["retry-after"] == "5")
            #expect(try await server.send("/held", key: "k", body: "other").status == 422)
            server.gate.open()
            #expect(try await first.body == "held")
            #expect(try await server.send("/held", key: "k").isReplayed)
            #expect(server.effects.value == 1)
        }
    }

    @Test func manyAtOnceAreExecutedOnce() async throws {
        try await IdempotentServer.run { server in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<40 { group.addTask { try await server.send(key: "k").status } }
                for try await status in group { #expect(status == 201 || status == 409) }
            }
            #expect(server.effects.value == 1)
        }
    }

    @Test func missingAndMalformedKeysAreRefused() async throws {
        var rules = IdempotencyRules()
        rules.requiresKey = { $0.path == "/orders" }
        rules.maximumKeyByteCount = 10
        try await IdempotentServer.run(rules) { server in
            #expect(try await server.send().reason == "missing")
            for key in ["\"\"", "\"a", "\"a\"b", "a b", "a,b", "01234567890", "\"\\a\"", "\"a\", \"b\""] {
                let reply = try await server.send(key: key)
                #expect(reply.status == 400 && reply.reason == "malformed", "\(key)")
            }
            #expect(try await server.send("/large").status == 200)
            #expect(server.effects.value == 1)
        }
    }

    @Test func failureBeforeExecutionIsNotStored() async throws {
        try await IdempotentServer.run { server in
            for count in 1...3 {
                let reply = try await server.send("/invalid", key: "k")
                #expect(reply.status == 400)
                #expect(server.effects.value == count)
            }
            #expect(try await server.send("/nowhere", key: "n").status == 404)
            #expect(try await server.send("/orders", key: "n").status == 201)
        }
    }

    @Test func unknownErrorIsNotExecutedAgain() async throws {
        try await IdempotentServer.run { server in
            #expect(try await server.send("/broken", key: "k").status == 500)
            let again = try await server.send("/broken", key: "k")
            #expect(again.status == 500 && again.isReplayed)
            #expect(server.effects.value == 1)
        }
    }

    @Test func responseTooLargeToStoreIsSentOnce() async throws {
        try await IdempotentServer.run { server in
            #expect(try await server.send("/large", key: "k").body.count == 300 << 10)
            let again = try await server.send("/large", key: "k")
            #expect(again.status == 409 && again.reason == "notStored")
            #expect(server.effects.value == 1)
        }
    }

    @Test func responseExpiresWithItsLifetime() async throws {
        try await IdempotentServer.run { server in
            _ = try await server.send(key: "k")
            // Longer than an offline queue sends a change again.
            server.clock.advance(by: 31 * 86_400 - 1)
            #expect(try await server.send(key: "k").isReplayed)
            server.clock.advance(by: 2)
            #expect(try await server.send(key: "k").body == "order 2: {}")
        }
    }

    @Test func executionThatOutlivesItsLeaseIsFencedOut() async throws {
        try await IdempotentServer.run { server in
            async let first = server.send("/held", key: "k")
            try await server.gate.waitForArrivals()
            server.clock.advance(by: 301)
            async let second = server.send("/held", key: "k")
            try await server.gate.waitForArrivals(count: 2)
            server.gate.open()
            let replies = [try await first, try await second]
            #expect(replies.map(\.status) == [409, 200])
            #expect(replies[0].reason == "notStored")
            #expect(try await server.send("/held", key: "k").isReplayed)
        }
    }

    @Test func fullAndFailingStoresLetNonePass() async throws {
        struct FailingStore: IdempotencyStore {
            func claim(
                _ key: IdempotencyKey, fingerprint: [UInt8], token: UUID, at now: Date, lease: Duration
            ) throws -> IdempotencyClaim { throw CocoaError(.fileNoSuchFile) }
            func complete(
                _ key: IdempotencyKey, token: UUID, with response: IdempotentResponse, until expiry: Date
            ) -> Bool { false }
            func release(_ key: IdempotencyKey, token: UUID) {}
        }
        try await IdempotentServer.run(store: FailingStore()) { server in
            let reply = try await server.send(key: "k")
            #expect(reply.status == 503 && reply.reason == "store" && reply.fields["retry-after"] == "1")
            #expect(server.effects.value == 0)
        }
        try await IdempotentServer.run(store: MemoryIdempotencyStore(maximumCount: 2, shareOfPrincipal: 1)) { server in
            for key in ["a", "b"] { _ = try await server.send(key: key) }
            #expect(try await server.send(key: "c").status == 429)
            #expect(try await server.send(key: "a").isReplayed)
            server.clock.advance(by: 31 * 86_400 + 1)
            #expect(try await server.send(key: "c").status == 201)
        }
    }

    /// Fails some attempts to store a response.
    private final class UnreliableStore: IdempotencyStore {
        struct Failure: Error {}

        private let store = MemoryIdempotencyStore()
        /// Guards the failures to come: whether the response is stored all the same.
        private let failures: Mutex<[Bool]>

        init(_ failures: [Bool]) { self.failures = Mutex(failures) }

        var failureCount: Int { failures.withLock { $0.count } }

        func claim(
            _ key: IdempotencyKey, fingerprint: [UInt8], token: UUID, at now: Date, lease: Duration
        ) throws -> IdempotencyClaim {
            try store.claim(key, fingerprint: fingerprint, token: token, at: now, lease: lease)
        }

        func complete(
            _ key: IdempotencyKey, token: UUID, with response: IdempotentResponse, until expiry: Date
        ) throws -> Bool {
            let isStoredAllTheSame: Bool? = failures.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            if isStoredAllTheSame == false { throw Failure() }
            let isStored = store.complete(key, token: token, with: response, until: expiry)
            if isStoredAllTheSame == true { throw Failure() }
            return isStored
        }

        func release(_ key: IdempotencyKey, token: UUID) { store.release(key, token: token) }
    }

    @Test(arguments: [[false], [true], [true, false]])
    func storingAResponseIsAttemptedAgain(_ failures: [Bool]) async throws {
        try await IdempotentServer.run(store: UnreliableStore(failures)) { server in
            let first = try await server.send(key: "k")
            #expect(first.status == 201)
            server.clock.advance(by: 301)
            let second = try await server.send(key: "k")
            #expect(second.isReplayed)
            #expect(server.effects.value == 1)
        }
    }

    @Test func attemptsToStoreAResponseAreBounded() async throws {
        let store = UnreliableStore([false, false, false, false])
        try await IdempotentServer.run(store: store) { server in
            let first = try await server.send(key: "k")
            #expect(first.status == 201)
            #expect(store.failureCount == 1)
            let second = try await server.send(key: "k")
            #expect(second.reason == "inFlight")
        }
    }

    @Test(arguments: ["PUT", "DELETE", "PATCH"]) func everyChangeIsExecutedOnce(_ method: String) async throws {
        try await IdempotentServer.run { server in
            let first = try await server.send("/change", key: "k", method: method)
            let again = try await server.send("/change", key: "k", method: method)
            #expect(!first.isReplayed && again.isReplayed && again.body == "changed 1")
            #expect(server.effects.value == 1)
        }
    }

    @Test func readsAndRequestsWithoutKeyPass() async throws {
        try await IdempotentServer.run { server in
            for _ in 0..<2 {
                let (read, order) = (try await server.send(key: "k", method: "GET"), try await server.send())
                #expect(read.body == "orders" && order.status == 201)
            }
            #expect(server.effects.value == 4)
        }
    }
}
