/// The rows of a list that are in memory, and their positions in the list.
///
/// Rows have the order that the list had when they were read. A row stays until the list is reloaded or the row is
/// evicted at an end of the window. If a later read does not find a row at its position, the row was deleted, or moved
/// to a position that has not been read yet. Such a row is *absent*. It takes its new position if it is found again.
struct PageWindow {
    struct Row {
        var item: PageItem
        /// Whether a later read of the row's position did not find the row.
        var isAbsent = false
        /// The number of the row's page, counted from the start of the list. Used for lists that are paged by cursor.
        var page = 0
    }

    var rows: [Row] = []
    /// The position of the first row.
    var start = 0
    /// The position after the last row that was read.
    var edge = 0
    /// The id of the last row before ``edge``.
    var edgeID: String?
    /// Whether the list ends at ``edge``.
    var isAtEnd = false
    var total: Int?
    /// The number of rows that were inserted before ``edge`` but have not been read.
    var unreadCount = 0
    /// The cursors of the list's pages, beginning with the first page. The last one is the cursor of the page after
    /// ``edge``.
    var cursors: [String?] = [nil]

    /// The page number of the first row in memory. Used for lists that are paged by cursor.
    var firstPage = 0

    var isAtStart: Bool { start == 0 && firstPage == 0 }

    /// Returns the indices of the rows that have an id. The keys are the ids.
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
        /// The number of rows that were inserted into the window before the read rows; negative if rows were removed.
        var shift = 0
        /// The number of read rows that were unknown or absent before.
        var foundCount = 0
        /// Whether known rows were found in another order or at other positions.
        var isReordered = false
        /// Whether the read certainly connects to the rows in memory. The connection is uncertain if the row that the
        /// read and the window have in common may have been moved there from far away.
        var isCertain = false
    }

    /// The position of a read relative to the rows in memory. It determines what happens to rows before the first known
    /// row, and to known rows after the last read row.
    enum Side {
        /// The read is the next page. Known rows after it become absent.
        case onward
        /// The read lies within the rows in memory.
        case within
        /// The read is the previous page. Rows before the first known row are inserted at the front.
        case before
    }

    /// Merges the rows of a read into the list, at the rows that both contain.
    ///
    /// - Returns: The change; `nil`, with nothing changed, if no row of the read matches a row that the list shows.
    mutating func merge(_ read: PageRead, _ side: Side) -> Change? {
        let known = indices()
        var seen: Set<String> = []
        // Rows after `edge`, the position after the last row that was read, are skipped here. The next page contains
        // them, and must connect to the row before `edge`.
        let found = read.items.enumerated().filter { offset, item in
            (side == .onward || read.start + offset < edge) && item.id.map { seen.insert($0).inserted } ?? true
        }
        var places = found.map { _, item in
            item.id.flatMap { known[$0] }.flatMap { rows[$0].isAbsent ? nil : $0 }
        }
        if side == .onward, let index = found.firstIndex(where: { $0.element.id == edgeID }), let edge = places[index] {
            // The page was requested so that it begins with this row. Rows on the wrong side of this row were therefore
            // moved.
            for other in places.indices {
                if let place = places[other], (other < index) != (place < edge), other != index { places[other] = nil }
            }
        }
        // Rows that are still in order determine the position of the read. The other rows were moved.
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
            // The read also covers the positions before its first known row. A row there that was not found again is
            // therefore absent.
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
    /// Evicts the first rows until at most `maximumCount` remain.
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

    /// Evicts the last rows until at most `maximumCount` remain.
    mutating func dropLast(keeping maximumCount: Int, byPages: Bool) {
        guard rows.count > maximumCount else { return }
        var end = maximumCount
        if byPages {
            let page = rows[end].page
            end = rows.firstIndex { $0.page >= page } ?? rows.count
            if end == 0 { return }
            cursors.removeLast(cursors.count - page - 1)
        } else {
            // The last row must not be absent, because the next page has to connect to it.
            while end > 1, rows[end - 1].isAbsent { end -= 1 }
        }
        edge -= rows[end...].count { !$0.isAbsent }
        rows.removeLast(rows.count - end)
        edgeID = rows.last?.item.id
        isAtEnd = false
    }
}

extension Array where Element == Int? {
    /// Returns the indices of the longest increasing subsequence: values in order, not necessarily adjacent, each
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
