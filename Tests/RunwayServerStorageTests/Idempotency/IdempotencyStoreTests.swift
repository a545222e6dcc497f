import Foundation
import HTTPTypes
import RunwayServer
import RunwayServerStorage
import Testing

/// What every store does, over each of them.
struct IdempotencyStoreTests {
    enum Kind: CaseIterable { case memory, sqlite }

    private let folder = ScratchFolder()
    private let start = Date(timeIntervalSince1970: 1_790_000_000)
    private let response = IdempotentResponse(
        status: 201, headerFields: [.contentType: "application/json", .location: "/1"], body: Array("{}".utf8))

    private func store(_ kind: Kind, upTo maximumCount: Int = 1000) throws -> any IdempotencyStore {
        switch kind {
        case .memory: MemoryIdempotencyStore(maximumCount: maximumCount)
        case .sqlite: try SQLiteIdempotencyStore(at: folder.file, maximumCount: maximumCount)
        }
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
        #expect(try await store.complete(key, token: token, with: response, until: start + 1000) == false)
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
    func expiredLeaseIsTakenOverAndFencesItsOwnerOut(_ kind: Kind) async throws {
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
    func releasedKeyCanBeClaimedByAnyRequest(_ kind: Kind) async throws {
        let store = try store(kind)
        let token = UUID()
        #expect(try await claim(store, token: token) == .claimed)
        try await store.release(IdempotencyKey(principal: "ada", text: "k"), token: token)
        #expect(try await claim(store, print: 2) == .claimed)
    }

    @Test(arguments: Kind.allCases)
    func fullStoreClaimsWhatItHasAndNothingElse(_ kind: Kind) async throws {
        let store = try store(kind, upTo: 2)
        let token = UUID()
        #expect(try await claim(store, "a", token: token) == .claimed)
        _ = try await store.complete(
            IdempotencyKey(principal: "ada", text: "a"), token: token, with: response, until: start + 100)
        #expect(try await claim(store, "b") == .claimed)
        await #expect(throws: IdempotencyStoreFull.self) { try await claim(store, "c") }
        #expect(try await claim(store, "a") == .completed(response))
        #expect(try await claim(store, "c", after: 100) == .claimed)
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
