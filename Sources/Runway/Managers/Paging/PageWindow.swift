/// The rows of a list that are in memory, and their positions in the list.
///
/// Rows are ordered as the list was when they were read. A row stays until the list is loaded again or the row is
/// evicted at an end of the window. If a later read does not find a row at its position, it was deleted, or moved to a
/// position that has not been read yet. It is *absent* then, and takes its new position if it is found again.
struct PageWindow {
    struct Row {
        var item: PageItem
        /// Whether a later read of its position did not find it.
        var isAbsent = false
        /// The number of its page, counted from the start of the list; for lists that are paged by cursor.
        var page = 0
    }

    var rows: [Row] = []
    /// The position of the first row.
    var start = 0
    /// The position after the last row that was read.
    var edge = 0
    /// The row at the edge, by its id.
    var edgeID: String?
    /// Whether the list ends at the edge.
    var isAtEnd = false
    var total: Int?
    /// The number of rows that were inserted before the edge and have not been read.
    var unreadCount = 0
    /// The cursors of the list's pages, from its first page on; the last is the cursor of the page after the edge.
    var cursors: [String?] = [nil]

    /// The number of the first row's page; for lists that are paged by cursor.
    var firstPage = 0

    /// Whether the first row is the first of the list.
    var isAtStart: Bool { start == 0 && firstPage == 0 }

    /// Returns the indices of the rows that have an id.
    func indices() -> [String: Int] {
        var indices: [String: Int] = [:]
        for (index, row) in rows.enumerated() {
            if let id = row.item.id { indices[id] = index }
        }
        return indices
    }
}

extension PageWindow {
    /// The change that a read made to the list.
    struct Change {
        /// The number of rows that were inserted before the read rows, inside the window; below 0 if rows were removed.
        var shift = 0
        /// The number of rows in the read that were not known, or absent.
        var foundCount = 0
        /// Whether rows were found in another order, or not at their positions.
        var isReordered = false
        /// Whether the read connects to the window for certain, and the common row was not merely moved there from far
        /// away.
        var isCertain = false
    }

    /// The treatment of read rows before the first known row, and of known rows after the last read one.
    enum Side {
        /// The read is the next page: known rows after it are absent.
        case onward
        /// The read is between the ends of the window.
        case within
        /// The read is the previous page: rows before the first known one are inserted at the front.
        case before
    }

    /// Replaces the rows of one part of the list by the rows of a read.
    ///
    /// - Returns: The change; `nil` if no row of the read is known, and nothing changes.
    mutating func merge(_ read: PageRead, _ side: Side) -> Change? {
        let known = indices()
        var seen: Set<String> = []
        // Rows after the edge are left to the next page, which has to connect to it.
        let found = read.items.enumerated().filter { offset, item in
            (side == .onward || read.start + offset < edge) && item.id.map { seen.insert($0).inserted } ?? true
        }
        var places = found.map { _, item in
            item.id.flatMap { known[$0] }.flatMap { rows[$0].isAbsent ? nil : $0 }
        }
        if side == .onward, let index = found.firstIndex(where: { $0.element.id == edgeID }), let edge = places[index] {
            // The page was requested so that it begins with this row: rows on the wrong side of it were moved, and not this row.
            for other in places.indices {
                if let place = places[other], (other < index) != (place < edge), other != index { places[other] = nil }
            }
        }
        // Rows that are still in order fix the position of the read; the others were moved.
        let anchors = places.longestIncreasingSubsequence()
        guard let firstAnchor = anchors.first, let lastAnchor = anchors.last,
            let first = places[firstAnchor], let last = places[lastAnchor]
        else { return nil }

        var change = Change()
        let includesFront = side == .before || first > 0 || read.start == 0
        func expectedIndex(_ place: Int) -> Int { edge - 1 - rows[(place + 1)...].count { !$0.isAbsent } }
        if first > 0, read.start > 0 { change.shift = read.start + found[firstAnchor].offset - expectedIndex(first) }
        let distance = read.start + found[lastAnchor].offset - expectedIndex(last)
        change.isCertain =
            read.start == 0 || rows[last].item.id == edgeID || anchors.count * 2 >= found.count
            || abs(distance) < found.count
        let anchorPlaces = Set(anchors.compactMap { places[$0] })
        let moved = Set(found.compactMap { _, item in item.id.flatMap { known[$0] } }).subtracting(anchorPlaces)
        change.foundCount = found.indices.count { index in
            guard includesFront || index > firstAnchor else { return false }
            return found[index].element.id.flatMap { known[$0] }.map { rows[$0].isAbsent } ?? true
        }
        change.isReordered = moved.contains { !rows[$0].isAbsent }

        let front = includesFront ? found[..<firstAnchor].map { Row(item: $0.element) } : []
        var merged: [Row] = side == .before ? front : []
        for (index, row) in rows[..<first].enumerated() where !moved.contains(index) {
            merged.append(row)
            // The read covers the positions before its first known row, too.
            if side == .before { merged[merged.count - 1].isAbsent = true }
        }
        if side != .before { merged += front }
        var next = first
        for index in firstAnchor...lastAnchor {
            if let place = places[index], anchorPlaces.contains(place) {
                for gone in next..<place where !moved.contains(gone) {
                    if !rows[gone].isAbsent { change.isReordered = true }
                    merged.append(rows[gone])
                    merged[merged.count - 1].isAbsent = true
                }
                next = place + 1
            }
            merged.append(Row(item: found[index].element))
        }
        let rest = found[(lastAnchor + 1)...].map { Row(item: $0.element) }
        if side != .onward { merged += rest }
        for (index, row) in rows.enumerated() where index >= next && !moved.contains(index) {
            merged.append(row)
            if side == .onward { merged[merged.count - 1].isAbsent = true }
        }
        if side == .onward { merged += rest }

        rows = merged
        if side == .before {
            start = read.start
        } else if first == 0 {
            start = read.start + (includesFront ? 0 : found[firstAnchor].offset)
        }
        if side == .onward {
            edge = read.start + read.items.count
            edgeID = read.items.last?.id
            isAtEnd = read.reachesEnd
        }
        total = read.total ?? total
        return change
    }

    /// Replaces all rows by the rows of a read.
    mutating func restart(with read: PageRead) {
        var seen: Set<String> = []
        let items = read.items.filter { $0.id.map { seen.insert($0).inserted } ?? true }
        self = PageWindow(
            rows: items.map { Row(item: $0) }, start: read.start, edge: read.start + read.items.count,
            edgeID: read.items.last?.id, isAtEnd: read.reachesEnd, total: read.total)
    }
}

extension PageWindow {
    /// Evicts rows at the start of the window until at most `maximumCount` are left.
    mutating func dropFirst(keeping maximumCount: Int, byPages: Bool) {
        var count = rows.count - maximumCount
        guard count > 0 else { return }
        if byPages {
            let page = rows[count - 1].page
            count = rows.firstIndex { $0.page > page } ?? 0
        }
        if !byPages { start += rows[..<count].count { !$0.isAbsent } }
        rows.removeFirst(count)
        firstPage = rows.first?.page ?? 0
    }

    /// Evicts rows at the end of the window until at most `maximumCount` are left.
    mutating func dropLast(keeping maximumCount: Int, byPages: Bool) {
        guard rows.count > maximumCount else { return }
        var end = maximumCount
        if byPages {
            let page = rows[end].page
            end = rows.firstIndex { $0.page >= page } ?? rows.count
            if end == 0 { return }
            cursors.removeLast(cursors.count - page - 1)
        } else {
            // The row at the edge is one that can be found for.
            while end > 1, rows[end - 1].isAbsent { end -= 1 }
        }
        edge -= rows[end...].count { !$0.isAbsent }
        rows.removeLast(rows.count - end)
        edgeID = rows.last?.item.id
        isAtEnd = false
    }
}

extension Array where Element == Int? {
    /// Returns the indices of the longest increasing subsequence: each of its values, which need not be neighbours, is
    /// greater than the previous one.
    func longestIncreasingSubsequence() -> [Int] {
        var tails: [Int] = []
        var previous = [Int](repeating: -1, count: count)
        for index in indices {
            guard let value = self[index] else { continue }
            var low = 0
            var high = tails.count
            while low < high {
                let middle = (low + high) / 2
                if let tail = self[tails[middle]], tail < value { low = middle + 1 } else { high = middle }
            }
            previous[index] = low > 0 ? tails[low - 1] : -1
            if low == tails.count { tails.append(index) } else { tails[low] = index }
        }
        var sequence: [Int] = []
        var index = tails.last ?? -1
        while index >= 0 {
            sequence.append(index)
            index = previous[index]
        }
        return sequence.reversed()
    }
}
