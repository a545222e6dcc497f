import RunwayTesting
import Testing

@testable import RunwaySignatures

/// The memory of used nonces: its window, its bound, and a clock that is set back.
struct NonceMemoryTests {
    private static let start = UnixTime(seconds: 1_790_000_000)

    private func nonce(_ value: String, created: Int = 0, expires: Int = 120, key: String = "k") -> Nonce {
        Nonce(
            value: value, keyID: key, created: Self.start + .seconds(created), expires: Self.start + .seconds(expires))
    }

    @Test func keyAndNonceAreSeparate() {
        let memory = NonceMemory(startedAt: Self.start)
        #expect(memory.claim(nonce("bc", key: "a"), at: Self.start) == .claimed)
        #expect(memory.claim(nonce("c", key: "ab"), at: Self.start) == .claimed)
        #expect(memory.claim(nonce("bc", key: "a"), at: Self.start) == .replayed)
    }

    @Test func signaturesBeforeTheStartAreRefused() {
        let memory = NonceMemory(startedAt: Self.start)
        #expect(memory.claim(nonce("a", created: -1), at: Self.start) == .beforeStart(Self.start))
    }

    @Test func aFullMemoryRefusesUntilNoncesExpire() {
        let memory = NonceMemory(startedAt: Self.start, maximumNonces: 1)
        #expect(memory.claim(nonce("a"), at: Self.start) == .claimed)
        #expect(memory.claim(nonce("b"), at: Self.start) == .full)
        #expect(memory.claim(nonce("a"), at: Self.start) == .replayed)
        let later = Self.start + .seconds(200)
        #expect(memory.claim(nonce("b", created: 190, expires: 310), at: later) == .claimed)
        #expect(memory.count == 1)
    }

    @Test func oneKeyCannotShutOutOthers() {
        let memory = NonceMemory(startedAt: Self.start, maximumNonces: 1_600)
        let claims = (0..<5_000).map { memory.claim(nonce("n\($0)", key: "loud"), at: Self.start) }
        #expect(claims.filter { $0 == .claimed }.count == 400 && claims.last == .full)
        for index in 0..<20 {
            #expect(memory.claim(nonce("n\(index)", key: "quiet"), at: Self.start) == .claimed)
        }
    }

    @Test func keysQuotaIsFreeWhenItsNoncesExpire() {
        let memory = NonceMemory(startedAt: Self.start, maximumNonces: 100, maximumNoncesPerKey: 1)
        var claimed = 0
        for round in 0..<5 {
            let time = Self.start + .seconds(round * 200)
            for index in 0..<200 {
                let nonce = nonce("n\(index)", created: round * 200, expires: round * 200 + 120)
                if memory.claim(nonce, at: time) == .claimed { claimed += 1 }
            }
        }
        #expect(claimed == 5 * 16)
    }

    @Test func clockSetBackLetsNothingBeReplayed() {
        let memory = NonceMemory(startedAt: Self.start)
        #expect(memory.claim(nonce("a"), at: Self.start) == .claimed)
        _ = memory.claim(nonce("b", created: 900, expires: 1_020), at: Self.start + .seconds(900))
        #expect(memory.claim(nonce("a"), at: Self.start) != .claimed)
    }

    @Test func aClockThatWasAheadRefusesNothingLater() {
        let memory = NonceMemory(startedAt: Self.start)
        // In each part there is a nonce of before, and a claim while the clock is an hour ahead.
        for index in 0..<200 { #expect(memory.claim(nonce("old \(index)"), at: Self.start) == .claimed) }
        let ahead = Self.start + .seconds(3_600)
        for index in 0..<200 {
            let nonce = nonce("ahead \(index)", created: 3_600, expires: 3_720)
            #expect(memory.claim(nonce, at: ahead) == .claimed)
        }
        for index in 0..<200 {
            let nonce = nonce("new \(index)", created: 1, expires: 121)
            #expect(memory.claim(nonce, at: Self.start + .seconds(1)) == .claimed)
        }
        for index in 0..<200 { #expect(memory.claim(nonce("old \(index)"), at: Self.start) != .claimed) }
        #expect(memory.count == 400)
    }

    @Test func concurrentClaimsHaveOneWinner() async {
        let memory = NonceMemory(startedAt: Self.start)
        let claims = await withTaskGroup(of: NonceClaim.self) { group in
            for index in 0..<400 { group.addTask { memory.claim(nonce("n\(index % 10)"), at: Self.start) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(claims.filter { $0 == .claimed }.count == 10)
        #expect(claims.filter { $0 == .replayed }.count == 390)
    }

    /// Against a list of everything that was ever claimed: nothing is claimed twice, and what is new and in its time is claimed.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func randomSchedulesAgreeWithAModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let memory = NonceMemory(startedAt: Self.start, maximumNonces: 100_000)
        var used: Set<String> = []
        var clock = 0
        for _ in 0..<3_000 {
            clock += Int.random(in: 0...3, using: &random)
            let created = clock - Int.random(in: 0...140, using: &random)
            let name = "n\(Int.random(in: 0...1_500, using: &random))"
            let claim = memory.claim(
                nonce(name, created: created, expires: created + 120), at: Self.start + .seconds(clock))
            if claim == .claimed {
                // A nonce may come again once its first signature has expired.
                #expect(used.insert("\(name) \(created)").inserted, "seed \(seed)")
            } else if claim == .beforeMemory || claim == .beforeStart(Self.start) {
                #expect(created < 0 || created + 120 < clock, "seed \(seed)")
            } else {
                #expect(claim == .replayed && used.contains { $0.hasPrefix("\(name) ") }, "seed \(seed)")
            }
        }
        #expect(used.count > 500)
    }
}
