import Foundation
import GRDB
import RunwayServer
import RunwayServerStorage
import RunwaySignatures
import RunwayTesting
import Testing

/// What every store of nonces does, over each of them.
struct NonceStoreTests {
    enum Kind: CaseIterable { case memory, sqlite }

    private let folder = ScratchFolder()
    private let start = UnixTime(seconds: 1_790_000_000)

    private func store(
        _ kind: Kind, maximumNonces: Int = 1_000, maximumNoncesPerKey: Int? = nil, after seconds: Int = 0
    ) throws -> any NonceStore {
        let time = start + .seconds(seconds)
        let perKey = maximumNoncesPerKey ?? maximumNonces
        return switch kind {
        case .memory: NonceMemory(startedAt: time, maximumNonces: maximumNonces, maximumNoncesPerKey: perKey)
        case .sqlite:
            try SQLiteNonceStore(
                at: folder.file, startedAt: time, maximumNonces: maximumNonces, maximumNoncesPerKey: perKey)
        }
    }

    /// Claims a nonce that was made some seconds after the start, and is accepted for two minutes.
    private func claim(
        _ value: String, of key: String = "k", created: Int = 0, at seconds: Int? = nil, in store: any NonceStore
    ) async throws -> NonceClaim {
        let created = start + .seconds(created)
        let nonce = Nonce(value: value, keyID: key, created: created, expires: created + .seconds(120))
        return try await store.claim(nonce, at: seconds.map { start + .seconds($0) } ?? created)
    }

    @Test(arguments: Kind.allCases)
    func nonceIsClaimedOnceForEachKey(_ kind: Kind) async throws {
        let store = try store(kind)
        // The last two are one text for `String`, and two for a database.
        let nonces = [("n", "k"), ("m", "k"), ("n", "l"), ("kn", ""), ("", "kn"), ("\u{E9}", "k"), ("e\u{301}", "k")]
        for (value, key) in nonces {
            #expect(try await claim(value, of: key, in: store) == .claimed, "\(value) \(key)")
            #expect(try await claim(value, of: key, in: store) == .replayed, "\(value) \(key)")
        }
    }

    @Test(arguments: Kind.allCases)
    func whatMayHaveBeenUsedBeforeIsRefused(_ kind: Kind) async throws {
        let store = try store(kind)
        #expect(try await claim("a", created: -1, at: 0, in: store) == .beforeStart(start))
        #expect(try await claim("b", created: 0, at: 121, in: store) == .beforeMemory)
        #expect(try await claim("c", created: 0, at: 0, in: store) == .claimed)
    }

    @Test(arguments: Kind.allCases)
    func ofManyClaimsAtOnceOneSucceeds(_ kind: Kind) async throws {
        let store = try store(kind)
        let claims = try await withThrowingTaskGroup(of: NonceClaim.self) { group in
            for index in 0..<200 { group.addTask { try await claim("n\(index % 10)", in: store) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(claims.count { $0 == .claimed } == 10 && claims.count { $0 == .replayed } == 190)
    }

    @Test(arguments: Kind.allCases)
    func clockSetBackAllowsNoReplay(_ kind: Kind) async throws {
        let store = try store(kind)
        #expect(try await claim("a", in: store) == .claimed)
        // Another claim removes what has expired.
        #expect(try await claim("b", created: 1_000, in: store) == .claimed)
        #expect(try await claim("a", created: 0, at: 0, in: store) != .claimed)
    }

    @Test func boundsHoldUntilNoncesExpire() async throws {
        let store = try store(.sqlite, maximumNonces: 3, maximumNoncesPerKey: 2)
        for (value, key, claim) in [
            ("a", "k", NonceClaim.claimed), ("b", "k", .claimed), ("c", "k", .full), ("c", "l", .claimed),
            ("d", "m", .full), ("a", "k", .replayed),
        ] {
            #expect(try await self.claim(value, of: key, in: store) == claim)
        }
        for (value, claim) in [("e", NonceClaim.claimed), ("f", .claimed), ("g", .full)] {
            #expect(try await self.claim(value, created: 121, in: store) == claim)
        }
        #expect(try await claim("h", of: "l", created: 121, in: store) == .claimed)
    }

    @Test(arguments: Kind.allCases)
    func clockBrieflyAheadRefusesNoLaterNonce(_ kind: Kind) async throws {
        let store = try store(kind)
        let century = 3_153_600_000
        #expect(try await claim("a", in: store) == .claimed)
        #expect(try await claim("b", created: century, in: store) == .claimed)
        #expect(try await claim("a", in: store) != .claimed)
        #expect(try await claim("c", created: 121, in: store) == .claimed)
    }

    @Test func restartForgetsNothing() async throws {
        let first = try SQLiteNonceStore(at: folder.file, startedAt: start)
        #expect(try await claim("a", in: first) == .claimed)
        try await first.close()
        await #expect(throws: (any Error).self) { try await claim("z", in: first) }
        let second = try SQLiteNonceStore(at: folder.file, startedAt: start + .seconds(50))
        #expect(try await claim("a", at: 50, in: second) == .replayed)
        // Signed before the restart, and never used: a memory would refuse it.
        #expect(try await claim("b", created: 49, at: 50, in: second) == .claimed)
        #expect(try await claim("c", created: -1, at: 50, in: second) == .beforeStart(start))
        #expect(try await claim("d", created: 200, in: second) == .claimed)
        try await second.close()
        let third = try SQLiteNonceStore(at: folder.file, startedAt: start)
        #expect(try await claim("a", at: 0, in: third) == .beforeMemory)
        try await third.close()
        let database = try DatabaseQueue(path: folder.file.path)
        let counts = try await database.read { database in
            let parts = ["count FROM memory", "count(*) FROM nonce", "sum(count) FROM owner"]
            return try Int.fetchAll(database, sql: parts.map { "SELECT " + $0 }.joined(separator: " UNION ALL "))
        }
        #expect(counts == [1, 1, 1])
    }

    /// Against a list of everything that was ever claimed, with restarts: nothing is claimed twice, and what is new and in its time is
    /// claimed.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func randomSchedulesWithRestartsAgreeWithAModel(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var limits = ActionLogWriterLimits()
        limits.survivesPowerLoss = false
        var store = try SQLiteNonceStore(at: folder.file, startedAt: start, limits: limits)
        var used: Set<String> = []
        var clock = 0
        for _ in 0..<1_500 {
            clock += Int.random(in: 0...3, using: &random)
            if Int.random(in: 0..<100, using: &random) == 0 {
                try await store.close()
                store = try SQLiteNonceStore(at: folder.file, startedAt: start + .seconds(clock), limits: limits)
            }
            let created = clock - Int.random(in: 0...140, using: &random)
            let name = "n\(Int.random(in: 0...700, using: &random))"
            let claim = try await claim(name, created: created, at: clock, in: store)
            if claim == .claimed {
                // A nonce may come again once its first signature has expired.
                #expect(used.insert("\(name) \(created)").inserted, "seed \(seed)")
            } else if claim == .beforeMemory || claim == .beforeStart(start) {
                #expect(created < 0 || created + 120 < clock, "seed \(seed)")
            } else {
                #expect(claim == .replayed && used.contains { $0.hasPrefix("\(name) ") }, "seed \(seed)")
            }
        }
        #expect(used.count > 300)
    }
}
