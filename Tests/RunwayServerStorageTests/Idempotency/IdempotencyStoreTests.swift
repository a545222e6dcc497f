import Foundation
import GRDB
import HTTPTypes
import RunwayServer
import Testing

@testable import RunwayServerStorage

/// What every store does, over each of them.
struct IdempotencyStoreTests {
    enum Kind: CaseIterable { case memory, sqlite }

    private let folder = ScratchFolder()
    private let start = Date(timeIntervalSince1970: 1_790_000_000)
    private let response = IdempotentResponse(
        status: 201, headerFields: [.contentType: "application/json", .location: "/1"], body: Array("{}".utf8))

    private func store(
        _ kind: Kind, upTo maximumCount: Int = 1000, bytes: Int = 1 << 20, share: Double = 1
    ) throws -> any IdempotencyStore {
        switch kind {
        case .memory:
            MemoryIdempotencyStore(maximumCount: maximumCount, maximumByteCount: bytes, shareOfPrincipal: share)
        case .sqlite:
            try SQLiteIdempotencyStore(
                at: folder.file, maximumCount: maximumCount, maximumByteCount: bytes, shareOfPrincipal: share)
        }
    }

    /// Executes a request of a principal, and stores a response with so many bytes.
    private func execute(
        _ text: String, by principal: String, _ store: any IdempotencyStore, byteCount: Int = 2,
        after seconds: Double = 0
    ) async throws {
        let token = UUID()
        #expect(try await claim(store, text, by: principal, token: token, after: seconds) == .claimed)
        let response = IdempotentResponse(
            status: 200, headerFields: [:], body: [UInt8](repeating: 65, count: byteCount))
        let key = IdempotencyKey(principal: principal, text: text)
        #expect(try await store.complete(key, token: token, with: response, until: start + seconds + 1000))
    }

    private func claim(
        _ store: any IdempotencyStore, _ text: String = "k", by principal: String = "ada", print: UInt8 = 1,
        token: UUID = UUID(), after seconds: Double = 0
    ) async throws -> IdempotencyClaim {
        try await store.claim(
            IdempotencyKey(principal: principal, text: text), fingerprint: [print], token: token,
            at: start + seconds, lease: .seconds(60))
    }

    @Test(arguments: Kind.allCases)
    func claimIsCompletedByItsTokenAlone(_ kind: Kind) async throws {
        let store = try store(kind)
        let (key, token) = (IdempotencyKey(principal: "ada", text: "k"), UUID())
        #expect(try await claim(store, token: token) == .claimed)
        #expect(try await claim(store, by: "bob") == .claimed)
        #expect(try await claim(store) == .inFlight(until: start + 60))
        #expect(try await claim(store, print: 2) == .mismatch)
        #expect(try await store.complete(key, token: UUID(), with: response, until: start + 1000) == false)
        #expect(try await store.complete(key, token: token, with: response, until: start + 1000))
        // An attempt that seemed to fail is repeated.
        #expect(try await store.complete(key, token: token, with: response, until: start + 1000))
        #expect(try await claim(store, after: 999) == .completed(response))
        #expect(try await claim(store, print: 2, after: 999) == .mismatch)
        #expect(try await claim(store, print: 2, after: 1000) == .claimed)
    }

    @Test(arguments: Kind.allCases)
    func keysAreComparedByteByByte(_ kind: Kind) async throws {
        let store = try store(kind)
        // Each pair is one text for `String`, and two for a database.
        #expect(try await claim(store, by: "\u{E9}") == .claimed)
        #expect(try await claim(store, by: "e\u{301}") == .claimed)
        #expect(try await claim(store, "\u{E9}") == .claimed)
        #expect(try await claim(store, "e\u{301}") == .claimed)
        #expect(try await claim(store, "\u{E9}") == .inFlight(until: start + 60))
    }

    @Test(arguments: Kind.allCases)
    func claimingAnExpiredLeaseFencesOutItsOwner(_ kind: Kind) async throws {
        let store = try store(kind)
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

    @Test(arguments: Kind.allCases)
    func longestLeaseOverflowsNothing(_ kind: Kind) async throws {
        let store = try store(kind)
        let key = IdempotencyKey(principal: "ada", text: "k")
        for isFirst in [true, false] {
            let claim = try await store.claim(
                key, fingerprint: [1], token: UUID(), at: start, lease: .seconds(Int64.max))
            #expect((claim == .claimed) == isFirst)
        }
    }

    @Test(arguments: Kind.allCases)
    func clockSetBackEndsLeasesAndNoResponses(_ kind: Kind) async throws {
        let store = try store(kind)
        let (year, first, second) = (365 * 86_400.0, UUID(), UUID())
        #expect(try await claim(store, token: first, after: year) == .claimed)
        try await execute("done", by: "ada", store, after: year)
        // Clocks that differ by less than a day mean nothing.
        #expect(try await claim(store, after: year - 86_000) == .inFlight(until: start + year + 60))
        #expect(try await claim(store, token: second) == .claimed)
        let key = IdempotencyKey(principal: "ada", text: "k")
        #expect(try await store.complete(key, token: first, with: response, until: start + 1000) == false)
        #expect(try await store.complete(key, token: second, with: response, until: start + 1000))
        guard case .completed = try await claim(store, "done") else {
            Issue.record("The request would be executed again.")
            return
        }
    }

    @Test(arguments: Kind.allCases)
    func abandonedClaimsOfALaterDateMakeRoom(_ kind: Kind) async throws {
        let (store, year) = (try store(kind, upTo: 3), 365 * 86_400.0)
        try await execute("done", by: "ada", store, after: year)
        #expect(try await claim(store, "abandoned", after: year) == .claimed)
        #expect(try await claim(store, "in flight") == .claimed)
        #expect(try await claim(store, "new") == .claimed)
        // Nothing else makes room.
        await #expect(throws: StoreRefusal.full()) { try await claim(store, "newer") }
        #expect(try await claim(store, "in flight") == .inFlight(until: start + 60))
        guard case .completed = try await claim(store, "done") else {
            Issue.record("The response is not there.")
            return
        }
    }

    @Test(arguments: Kind.allCases)
    func abandonedKeyOfFullPrincipalRefusesOtherRequests(_ kind: Kind) async throws {
        let (store, year) = (try store(kind, upTo: 2), 365 * 86_400.0)
        #expect(try await claim(store, "abandoned", after: year) == .claimed)
        #expect(try await claim(store, "in flight") == .claimed)
        #expect(try await claim(store, "in flight") == .inFlight(until: start + 60))
        #expect(try await claim(store, "abandoned", print: 2) == .mismatch)
        #expect(try await claim(store, "abandoned") == .claimed)
    }

    @Test(arguments: Kind.allCases)
    func releasedKeyCanBeClaimedByAnyRequest(_ kind: Kind) async throws {
        let store = try store(kind)
        let token = UUID()
        #expect(try await claim(store, token: token) == .claimed)
        try await store.release(IdempotencyKey(principal: "ada", text: "k"), token: token)
        #expect(try await claim(store, print: 2) == .claimed)
    }

    @Test(arguments: Kind.allCases)
    func fullStoreAcceptsOnlyKnownKeysUntilExpiry(_ kind: Kind) async throws {
        let store = try store(kind, upTo: 2)
        let token = UUID()
        #expect(try await claim(store, "a", token: token) == .claimed)
        _ = try await store.complete(
            IdempotencyKey(principal: "ada", text: "a"), token: token, with: response, until: start + 100)
        #expect(try await claim(store, "b") == .claimed)
        await #expect(throws: StoreRefusal.full()) { try await claim(store, "c") }
        #expect(try await claim(store, "a") == .completed(response))
        #expect(try await claim(store, "c", after: 100) == .claimed)
    }

    @Test(arguments: Kind.allCases)
    func principalFillsItsShareAlone(_ kind: Kind) async throws {
        let store = try store(kind, upTo: 10, share: 0.3)
        for text in ["a", "b", "c"] { try await execute(text, by: "ada", store) }
        await #expect(throws: StoreRefusal.full()) { try await claim(store, "d") }
        for text in ["a", "b"] { try await execute(text, by: "bob", store) }
        // What it has is replayed, and makes room when it expires.
        guard case .completed = try await claim(store, "a") else {
            Issue.record("The response is not there.")
            return
        }
        #expect(try await claim(store, "d", after: 1000) == .claimed)
    }

    @Test(arguments: Kind.allCases)
    func fewPrincipalsNeverFillTheStore(_ kind: Kind) async throws {
        let store = try store(kind, upTo: 20, share: 0.5)
        var counts: [Int] = []
        for principal in ["ada", "bob", "eve"] {
            var count = 0
            while count < 20, (try? await claim(store, "\(count)", by: principal)) == .claimed { count += 1 }
            counts.append(count)
        }
        #expect(counts == [10, 5, 2])
    }

    @Test(arguments: Kind.allCases)
    func bytesOfResponsesAreBounded(_ kind: Kind) async throws {
        // A file has the bytes as numbers of JSON.
        let store = try store(kind, bytes: kind == .memory ? 10_000 : 30_000, share: 0.5)
        try await execute("a", by: "ada", store, byteCount: 4000)
        try await execute("b", by: "ada", store, byteCount: 4000)
        await #expect(throws: StoreRefusal.full()) { try await claim(store, "c") }
        try await execute("a", by: "bob", store, byteCount: 4000)
        await #expect(throws: StoreRefusal.full()) { try await claim(store, "a", by: "eve") }
        #expect(try await claim(store, "c", after: 1000) == .claimed)
    }

    @Test func fullMemoryIsSearchedOnceASecond() async throws {
        let store = try store(.memory, upTo: 1)
        let token = UUID()
        #expect(try await claim(store, "a", token: token) == .claimed)
        _ = try await store.complete(
            IdempotencyKey(principal: "ada", text: "a"), token: token, with: response, until: start + 100)
        await #expect(throws: StoreRefusal.full()) { try await claim(store, "b", after: 99.5) }
        await #expect(throws: StoreRefusal.full()) { try await claim(store, "b", after: 100.25) }
        #expect(try await claim(store, "b", after: 100.5) == .claimed)
    }

    @Test func abandonedClaimsAreRemovedInTheEnd() async throws {
        let store = try store(.sqlite, upTo: 2)
        for text in ["a", "b"] { #expect(try await claim(store, text) == .claimed) }
        await #expect(throws: StoreRefusal.full()) { try await claim(store, "c", after: 86_459) }
        #expect(try await claim(store, "a", print: 2, after: 86_459) == .mismatch)
        #expect(try await claim(store, "c", after: 86_461) == .claimed)
    }

    /// Changes a closed file as damage would.
    private func damage(_ sql: String) throws {
        let queue = try DatabaseQueue(path: folder.file.path)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    @Test(arguments: [
        "response = x'7B7D'", "response = NULL", "response = 'text'", "fingerprint = x'02'", "token = zeroblob(16)",
        "expiry = expiry + 1", "checksum = checksum + 1",
    ])
    func damagedRowIsNotExecutedAgain(_ damage: String) async throws {
        let first = try SQLiteIdempotencyStore(at: folder.file)
        for text in ["a", "b"] { try await execute(text, by: "ada", first) }
        try await first.close()
        try self.damage("UPDATE claim SET \(damage) WHERE key = 'a'")
        let second = try SQLiteIdempotencyStore(at: folder.file)
        guard case .completed(let response) = try await claim(second, "a") else {
            Issue.record("The request would be executed.")
            return
        }
        // The middleware responds with 409.
        #expect(response.body == nil)
        guard case .completed(let other) = try await claim(second, "b") else {
            Issue.record("The other response is not there.")
            return
        }
        #expect(other.body == [65, 65])
        try await second.close()
    }

    /// The principal and the key are what the row is found by: see the documentation of the store.
    @Test(arguments: ["principal", "key"]) func rowWithoutItsNameIsNotFound(_ column: String) async throws {
        let first = try SQLiteIdempotencyStore(at: folder.file)
        try await execute("a", by: "ada", first)
        #expect(first.logByteCount > 0)
        try await first.close()
        try damage("UPDATE claim SET \(column) = 'other'")
        let second = try SQLiteIdempotencyStore(at: folder.file)
        #expect(try await claim(second, "a") == .claimed)
        try await second.close()
    }

    @Test func fileOfTheFirstVersionIsMigrated() async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: folder.file.path)
        let data = try JSONEncoder().encode(response)
        let expiry = Int64((start + 1000).timeIntervalSince1970 * 1000)
        try await queue.write { database in
            let schema = SQLiteIdempotencyStore.schema
            try database.execute(sql: schema.tables)
            try database.execute(sql: "PRAGMA application_id = \(schema.applicationID); PRAGMA user_version = 1")
            for text in ["a", "b"] {
                try database.execute(
                    sql: "INSERT INTO claim VALUES ('ada', ?, x'01', ?, ?, ?)",
                    arguments: [text, UUID().data, expiry, data])
            }
        }
        try queue.close()
        let store = try SQLiteIdempotencyStore(at: folder.file, maximumCount: 3, shareOfPrincipal: 1)
        #expect(try await claim(store, "a") == .completed(response))
        #expect(try await claim(store, "c") == .claimed)
        await #expect(throws: StoreRefusal.full()) { try await claim(store, "d") }
        try await store.close()
    }

    @Test(arguments: Kind.allCases)
    func ofManyClaimsOneSucceeds(_ kind: Kind) async throws {
        let store = try store(kind)
        let count = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 { group.addTask { try await claim(store) == .claimed } }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(count == 1)
    }

    @Test func responsesAndClaimsSurviveARestart() async throws {
        let first = try SQLiteIdempotencyStore(at: folder.file)
        let token = UUID()
        #expect(try await claim(first, token: token) == .claimed)
        #expect(try await claim(first, "open") == .claimed)
        _ = try await first.complete(
            IdempotencyKey(principal: "ada", text: "k"), token: token, with: response, until: start + 1000)
        try await first.close()
        let second = try SQLiteIdempotencyStore(at: folder.file)
        #expect(try await claim(second) == .completed(response))
        #expect(try await claim(second, "open") == .inFlight(until: start + 60))
    }
}
