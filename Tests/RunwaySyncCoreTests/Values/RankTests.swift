import RunwaySyncCore
import RunwaySyncSimulator
import Testing

/// Rule 16.
struct RankTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func ranksFallBetweenTheirNeighbours(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var ranks: [Rank] = []
        for _ in 0..<300 {
            let index = Int.random(in: 0...ranks.count, using: &random)
            let lower = index > 0 ? ranks[index - 1] : nil
            let upper = index < ranks.count ? ranks[index] : nil
            ranks.insert(.between(lower, upper, using: &random), at: index)
        }
        #expect(ranks == ranks.sorted() && Set(ranks).count == 300)
        #expect(ranks.allSatisfy { Rank($0.description) == $0 })
    }

    @Test func aRowMovesByItsRank() {
        struct Item { var rank: Rank }
        var random = SeededRandom(seed: 5)
        let first = Item(rank: .between(nil, nil, using: &random))
        let (above, below): (Item?, Item?) = (first, nil)
        var task = Item(rank: .between(nil, first.rank, using: &random))
        // A row is moved by a change of its rank only.
        task.rank = Rank.between(above?.rank, below?.rank, using: &random)
        #expect(task.rank > first.rank)
    }

    @Test func growingListsHaveShortRanks() {
        var random = SeededRandom(seed: 1)
        var (first, last): (Rank?, Rank?)
        for _ in 0..<2_000 {
            last = .between(last, nil, using: &random)
            first = .between(nil, first ?? last, using: &random)
        }
        #expect((first?.description.utf8.count ?? 99) <= 7 && (last?.description.utf8.count ?? 99) <= 7)
    }

    @Test func rowsBetweenTheSameTwoDiffer() {
        var random = SeededRandom(seed: 3)
        let ranks = (0..<100).map { _ in Rank.between(nil, nil, using: &random) }
        #expect(Set(ranks).count == 100)
    }

    @Test func theEndsOfTheSpaceHaveNeighbours() throws {
        var random = SeededRandom(seed: 4)
        let (lowest, highest) = (try #require(Rank("0001")), try #require(Rank("zzzz")))
        #expect(Rank.between(nil, lowest, using: &random) < lowest)
        #expect(Rank.between(highest, nil, using: &random) > highest)
        #expect(Rank.between(highest, lowest, using: &random) > highest)
    }

    @Test(arguments: ["", "abc", "abc0", "ab c1", "äbcd", "abc-1"])
    func malformedRanksAreRefused(_ text: String) {
        #expect(Rank(text) == nil)
    }
}
