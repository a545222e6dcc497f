#if PostgreSQL
    import Foundation
    import Hummingbird
    import RunwayServer
    import Testing

    @testable import RunwayPostgreSQL

    /// The store of keys over a real server, whose URL `Scripts/postgresql.sh` sets.
    struct PostgreSQLIdempotencyTests {
        private static let url = ProcessInfo.processInfo.environment["RUNWAY_POSTGRESQL"] ?? "postgres://localhost/none"
        /// A tenant for each test.
        private let tenant = UUID().uuidString
        private let start = Date(timeIntervalSince1970: 1_790_000_000)
        private let response = IdempotentResponse(
            status: 201, headerFields: [.contentType: "application/json"], body: Array("{\"值\":1}".utf8))

        private func store(upTo count: Int = 1000, bytes: Int = 1 << 20) async throws -> PostgreSQLIdempotencyStore {
            try await PostgreSQLIdempotencyStore(
                at: Self.url, tenant: tenant, maximumCountByPrincipal: count, maximumByteCountByPrincipal: bytes)
        }

        private func claim(
            _ store: PostgreSQLIdempotencyStore, _ text: String = "k", by principal: String = "ada", print: UInt8 = 1,
            token: UUID = UUID(), after seconds: Double = 0
        ) async throws -> IdempotencyClaim {
            try await store.claim(
                IdempotencyKey(principal: principal, text: text), fingerprint: [print], token: token,
                at: start + seconds, lease: .seconds(60))
        }

        @Test func claimIsCompletedByItsTokenAlone() async throws {
            let (store, other) = (try await store(), try await store())
            let (key, token) = (IdempotencyKey(principal: "ada", text: "k"), UUID())
            #expect(try await claim(store, token: token) == .claimed)
            #expect(try await claim(other, by: "bob") == .claimed)
            #expect(try await claim(other) == .inFlight(until: start + 60))
            #expect(try await claim(other, print: 2) == .mismatch)
            #expect(try await other.complete(key, token: UUID(), with: response, until: start + 1000) == false)
            #expect(try await store.complete(key, token: token, with: response, until: start + 1000))
            // An attempt that seemed to fail is repeated.
            #expect(try await store.complete(key, token: token, with: response, until: start + 1000))
            #expect(try await claim(other, after: 999) == .completed(response))
            #expect(try await claim(other, print: 2, after: 1000) == .claimed)
        }

        @Test func claimingAnExpiredLeaseFencesOutItsOwner() async throws {
            let store = try await store()
            let (key, first, second) = (IdempotencyKey(principal: "ada", text: "k"), UUID(), UUID())
            #expect(try await claim(store, token: first) == .claimed)
            #expect(try await claim(store, print: 2, after: 60) == .mismatch)
            #expect(try await claim(store, token: second, after: 60) == .claimed)
            try await store.release(key, token: first)
            #expect(try await store.complete(key, token: first, with: response, until: start + 1000) == false)
            #expect(try await store.complete(key, token: second, with: response, until: start + 1000))
            try await store.release(key, token: second)
            #expect(try await claim(store, after: 61) == .completed(response))
        }

        @Test func clockSetBackEndsLeases() async throws {
            let (store, year) = (try await store(), 365 * 86_400.0)
            #expect(try await claim(store, after: year) == .claimed)
            // Clocks that differ by less than a day mean nothing.
            #expect(try await claim(store, after: year - 86_000) == .inFlight(until: start + year + 60))
            #expect(try await claim(store) == .claimed)
        }

        @Test func abandonedClaimsOfALaterDateMakeRoom() async throws {
            let (store, year) = (try await store(upTo: 2), 365 * 86_400.0)
            #expect(try await claim(store, "abandoned", after: year) == .claimed)
            #expect(try await claim(store, "in flight") == .claimed)
            #expect(try await claim(store, "new") == .claimed)
            await #expect(throws: StoreRefusal.full()) { try await claim(store, "newer") }
            #expect(try await claim(store, "in flight") == .inFlight(until: start + 60))
        }

        @Test func abandonedKeyOfFullPrincipalRefusesOtherRequests() async throws {
            let (store, year) = (try await store(upTo: 2), 365 * 86_400.0)
            #expect(try await claim(store, "abandoned", after: year) == .claimed)
            #expect(try await claim(store, "in flight") == .claimed)
            // Known keys need no room: nothing is removed for them.
            #expect(try await claim(store, "in flight") == .inFlight(until: start + 60))
            #expect(try await claim(store, "abandoned", print: 2) == .mismatch)
            #expect(try await claim(store, "abandoned") == .claimed)
        }

        @Test func releasedKeyCanBeClaimedByAnyRequest() async throws {
            let store = try await store()
            let token = UUID()
            #expect(try await claim(store, token: token) == .claimed)
            try await store.release(IdempotencyKey(principal: "ada", text: "k"), token: token)
            #expect(try await claim(store, print: 2) == .claimed)
        }

        @Test func principalFillsItsShareAlone() async throws {
            let store = try await store(upTo: 2, bytes: 1000)
            for text in ["a", "b"] { #expect(try await claim(store, text) == .claimed) }
            await #expect(throws: StoreRefusal.full()) { try await claim(store, "c") }
            #expect(try await claim(store, "a") == .inFlight(until: start + 60))
            #expect(try await claim(store, "c", by: "bob") == .claimed)
            // Claims that were never completed make room in the end.
            #expect(try await claim(store, "c", after: 86_461) == .claimed)
            let (key, token) = (IdempotencyKey(principal: "eve", text: "a"), UUID())
            #expect(try await claim(store, "a", by: "eve", token: token) == .claimed)
            let large = IdempotentResponse(status: 200, headerFields: [:], body: [UInt8](repeating: 65, count: 1000))
            #expect(try await store.complete(key, token: token, with: large, until: start + 1000))
            await #expect(throws: StoreRefusal.full()) { try await claim(store, "b", by: "eve") }
        }

        @Test func ofManyClaimsOneSucceeds() async throws {
            let stores = [try await store(), try await store()]
            let count = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<100 { group.addTask { try await claim(stores[number % 2]) == .claimed } }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(count == 1)
        }
    }
#endif
