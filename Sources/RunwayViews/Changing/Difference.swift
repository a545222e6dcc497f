import RunwayJSON

/// Collects the edits between two trees.
struct Difference {
    private(set) var edits: [ViewEdit] = []

    mutating func compare(_ former: ViewNode, _ present: ViewNode, at path: [String]) {
        if former === present { return }
        let (one, other) = (former.appearance, present.appearance)
        guard one.kind == other.kind else { return add(.replace, path) }
        if one != other { add(.change, path) }
        compareChildren(former.children, present.children, at: path)
    }

    private mutating func add(_ action: ViewEdit.Action, _ path: [String]) {
        edits.append(ViewEdit(path: path, action: action))
    }

    private mutating func compareChildren(_ former: ViewChildren, _ present: ViewChildren, at path: [String]) {
        var pairs: [(former: Int, present: Int)] = []
        if former.count == present.count, former.indices.allSatisfy({ former.key(at: $0) == present.key(at: $0) }) {
            pairs = former.indices.map { ($0, $0) }
        } else {
            pairs = arrange(former, present, at: path)
        }
        var rows: RowComparison?
        if let one = former.rows, let other = present.rows {
            rows = RowComparison(former: one.scope, present: other.scope)
        }
        for pair in pairs {
            let path = path + [present.key(at: pair.present)]
            guard let one = former.rows, let other = present.rows else {
                compare(former[pair.former], present[pair.present], at: path)
                continue
            }
            let (old, new) = (one.entries[pair.former], other.entries[pair.present])
            if old.part === new.part, rows?.isUnchanged(new.part, new.element, since: old.element) == true { continue }
            guard let known = one.knownNode(at: pair.former) else {
                add(.replace, path)
                continue
            }
            compare(known, other.node(at: pair.present), at: path)
        }
    }

    /// Adds removals, insertions and moves, and returns the indices of the children that remain.
    private mutating func arrange(
        _ former: ViewChildren, _ present: ViewChildren, at path: [String]
    ) -> [(former: Int, present: Int)] {
        let indices = Dictionary(uniqueKeysWithValues: former.indices.map { (former.key(at: $0), $0) })
        let sources = present.indices.map { indices[present.key(at: $0)] }
        let remaining = Set(sources.compactMap { $0 })
        for index in former.indices where !remaining.contains(index) { add(.remove, path + [former.key(at: index)]) }
        let unmoved = Set(Self.longestIncrease(sources.compactMap { $0 }))
        var pairs: [(former: Int, present: Int)] = []
        for (index, source) in sources.enumerated() {
            let before = index == 0 ? nil : present.key(at: index - 1)
            if let source {
                pairs.append((source, index))
                if !unmoved.contains(source) { add(.move(after: before), path + [present.key(at: index)]) }
            } else {
                add(.insert(after: before), path + [present.key(at: index)])
            }
        }
        return pairs
    }

    /// Returns a longest sequence of increasing numbers among some distinct numbers, in their order.
    static func longestIncrease(_ numbers: [Int]) -> [Int] {
        /// The index of the last number of the best sequence of each length.
        var ends: [Int] = []
        var predecessors = [Int?](repeating: nil, count: numbers.count)
        for (index, number) in numbers.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { predecessors[index] = ends[low - 1] }
            if low < ends.count { ends[low] = index } else { ends.append(index) }
        }
        var sequence: [Int] = []
        var next = ends.last
        while let index = next {
            sequence.append(numbers[index])
            next = predecessors[index]
        }
        return sequence.reversed()
    }
}
