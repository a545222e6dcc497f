import RunwayTesting

/// What the people who use an app do in one session: 1,000 calls of 330 distinct answers, 8 at once.
///
/// A session has parts. In each, every visitor opens a list by a new filter, opens all that the list shows, and between that goes back to
/// what it saw before: details once more, the list, the lists of earlier filters. Several visitors are interested in the same list. At the
/// end of a part all of them pull one list at once to refresh it, which gives a new answer.
struct Session: Sendable {
    enum Call: Sendable, Hashable {
        case list(Int)
        case details(Int)
    }

    struct Part: Sendable {
        /// The calls of each visitor, one after the other.
        var visits: [[Call]]
        /// The list that all refresh at the end.
        var refreshed: Int
    }

    static let visitorCount = 8
    static let rowCount = 12
    private static let listsPerPart = 5
    private static let visitLength = 24

    private(set) var parts: [Part] = []

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var seen = [[Call]](repeating: [], count: Self.visitorCount)
        for part in 0..<5 {
            let lists = (0..<Self.listsPerPart).map { part * Self.listsPerPart + $0 }
            let visits = (0..<Self.visitorCount).map { visitor in
                Self.visit(of: lists[visitor % lists.count], after: &seen[visitor], &random)
            }
            parts.append(Part(visits: visits, refreshed: lists[Int.random(in: lists.indices, using: &random)]))
        }
    }

    /// The list, its rows in some order, and in between what was seen before.
    private static func visit(of list: Int, after seen: inout [Call], _ random: inout SeededGenerator) -> [Call] {
        var rows = rows(of: list).map(Call.details).shuffled(using: &random)
        var calls = [Call.list(list)]
        seen.append(.list(list))
        while calls.count < visitLength {
            let repeats = visitLength - calls.count - rows.count
            let isNew = Int.random(in: 0..<(rows.count + repeats), using: &random) < rows.count
            if isNew, let row = rows.popLast() {
                calls.append(row)
                seen.append(row)
            } else {
                calls.append(seen[Int.random(in: seen.indices, using: &random)])
            }
        }
        return calls
    }

    /// The numbers of the details that a list shows.
    static func rows(of list: Int) -> Range<Int> { list * rowCount..<(list + 1) * rowCount }

    /// How many calls there are.
    var callCount: Int { parts.reduce(0) { $0 + $1.visits.reduce(0) { $0 + $1.count } + Self.visitorCount } }

    /// How many answers differ: one for each list and each of the details, and one for each refresh.
    var answerCount: Int { Set(parts.flatMap(\.visits).joined()).count + parts.count }
}
