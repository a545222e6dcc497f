import Foundation
import RunwayTesting
import Testing

@testable import Runway

struct SharedWorkTableTests {
    /// How many sequences are played; `RUNWAY_SHARED_WORK` asks for more.
    static let count = ProcessInfo.processInfo.environment["RUNWAY_SHARED_WORK"].flatMap { Int($0) } ?? 1500

    typealias Table = SharedWorkTable<Int, Int>

    /// The expected behaviour of a table, in lists that are searched.
    private struct Model {
        struct Work {
            var number: UInt64
            var key: Int
            var members: [Int]
            var isListed: Bool
        }
        var works: [Work] = []
        var count: UInt64 = 0
    }

    @Test func tableDoesWhatListsWouldInEveryOrder() throws {
        for seed in 1...UInt64(Self.count) {
            var random = SeededGenerator(seed: seed)
            let rules = SharedWorkRules(
                maximumListed: Int.random(in: 0...3, using: &random),
                maximumMembers: Int.random(in: 0...4, using: &random),
                overflow: Bool.random(using: &random) ? .startsAnother : .isRefused(detail: "full"),
                abandonment: Bool.random(using: &random) ? .isCancelled : .isCompleted)
            try play(rules, &random, seed)
        }
    }

    private func play(_ rules: SharedWorkRules, _ random: inout SeededGenerator, _ seed: UInt64) throws {
        var table = Table(rules)
        var model = Model()
        var ids: [(id: Table.MemberID, member: Int)] = []
        for member in 0..<Int.random(in: 5...40, using: &random) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0...5:
                let key = Int.random(in: 0..<4, using: &random)
                let isJoinable = Int.random(in: 0..<8, using: &random) > 0
                let entry = table.enter(member, for: key, isJoinable: isJoinable)
                let expected = Self.enter(member, key, isJoinable, rules, &model)
                try check(Self.name(entry) == expected, seed)
                switch entry {
                case .begins(let id), .joins(let id, _): ids.append((id, member))
                case .refused: break
                }
            case 6, 7:
                guard let (id, member) = ids.randomElement(using: &random) else { continue }
                let expected = Self.leave(member, rules, &model)
                try check(Self.name(table.leave(id)) == expected, seed)
            case 8:
                let number = UInt64.random(in: 0...model.count + 1, using: &random)
                let place = model.works.firstIndex { $0.number == number }
                let expected = place.map { model.works.remove(at: $0).members }
                try check(table.end(number)?.members == expected, seed)
            default:
                let key = Int.random(in: 0..<4, using: &random)
                table.close { $0 == key }
                for place in model.works.indices where model.works[place].key == key {
                    model.works[place].isListed = false
                }
            }
            try check(table.workCount == model.works.count, seed)
            try check(table.listedCount == model.works.count { $0.isListed }, seed)
            for work in model.works { try check(table.members(of: work.number) == work.members, seed) }
        }
    }

    /// The macro alone costs more than a whole sequence: it is used only to report.
    private func check(_ isAsExpected: Bool, _ seed: UInt64, sourceLocation: SourceLocation = #_sourceLocation) throws {
        if !isAsExpected { try #require(Bool(false), "seed \(seed)", sourceLocation: sourceLocation) }
    }

    private static func enter(
        _ member: Int, _ key: Int, _ isJoinable: Bool, _ rules: SharedWorkRules, _ model: inout Model
    ) -> String {
        let listed = model.works.firstIndex { $0.key == key && $0.isListed }
        if isJoinable, let listed {
            if model.works[listed].members.count < max(1, rules.maximumMembers) {
                model.works[listed].members.append(member)
                return "joins \(model.works[listed].number)"
            }
            if case .isRefused = rules.overflow { return "refused" }
        }
        model.count += 1
        let isListed = isJoinable && (listed != nil || model.works.count { $0.isListed } < rules.maximumListed)
        if isListed, let listed { model.works[listed].isListed = false }
        model.works.append(Model.Work(number: model.count, key: key, members: [member], isListed: isListed))
        return "begins \(model.count)"
    }

    private static func leave(_ member: Int, _ rules: SharedWorkRules, _ model: inout Model) -> String {
        guard let place = model.works.firstIndex(where: { $0.members.contains(member) }) else { return "was over" }
        model.works[place].members.removeAll { $0 == member }
        if !model.works[place].members.isEmpty || rules.abandonment == .isCompleted { return "left" }
        model.works.remove(at: place)
        return "was last"
    }

    private static func name(_ entry: Table.Entry) -> String {
        switch entry {
        case .begins(let id): "begins \(id.work)"
        case .joins(let id, _): "joins \(id.work)"
        case .refused: "refused"
        }
    }

    private static func name(_ removal: Table.Removal) -> String {
        switch removal {
        case .wasOver: "was over"
        case .left: "left"
        case .wasLast: "was last"
        }
    }

    @Test func leadersSeatIsFirstAlsoAfterItLeft() {
        var table = Table(
            SharedWorkRules(
                maximumListed: 1, maximumMembers: 3, overflow: .startsAnother, abandonment: .isCancelled))
        guard case .begins(let first) = table.enter(10, for: 0, isJoinable: true) else {
            Issue.record("nothing begun")
            return
        }
        _ = table.enter(11, for: 0, isJoinable: true)
        _ = table.leave(first)
        guard case .joins(let third, leader: 10) = table.enter(12, for: 0, isJoinable: true) else {
            Issue.record("not joined")
            return
        }
        #expect(first.number == 0 && third.number == 2)
    }
}
