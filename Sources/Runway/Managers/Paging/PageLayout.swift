/// Determines the requests that read the rows around a position, for the paging style of an API.
struct PageLayout {
    let style: PageStyle
    let size: Int

    init(_ style: PageStyle, size: Int, overlaps: Bool) {
        self.style = style
        self.size = max(overlaps ? 2 : 1, size)
    }

    /// Plans a read that contains the row at `position` and as many rows after it as possible.
    func read(onwardFrom position: Int) -> PageRead {
        switch style {
        case .offset, .cursor: return PageRead([PageRequest(offset: position, number: 0, size: size)])
        case .number(let first):
            // The best page size is the allowed size whose page contains the most rows from the position on.
            let best = sizes.max { $0 - position % $0 < $1 - position % $1 } ?? size
            if best - position % best > 1 { return PageRead([numbered(position / best, of: best, first)]) }
            return PageRead([
                numbered(position / size + 1, of: size, first), numbered(position / size, of: size, first),
            ])
        case .numberOfFixedSize(let first):
            let index = position / size
            let page = numbered(index, of: size, first)
            // If the position is the last row of its page, the next page is read, too. The next page is read first, so
            // that an edit between the two reads can be detected.
            return PageRead(position % size == size - 1 ? [numbered(index + 1, of: size, first), page] : [page])
        }
    }

    /// Plans a read that contains the row at `position` and as many rows before it as possible.
    func read(upTo position: Int) -> PageRead {
        switch style {
        case .offset, .cursor:
            let start = max(0, position - size + 1)
            return PageRead([PageRequest(offset: start, number: 0, size: max(2, position - start + 1))])
        case .number(let first):
            let best = sizes.max { position % $0 < position % $1 } ?? size
            if position % best > 0 || position == 0 {
                return PageRead([numbered(position / best, of: best, first)])
            }
            return PageRead([
                numbered(position / size, of: size, first), numbered(position / size - 1, of: size, first),
            ])
        case .numberOfFixedSize(let first):
            let index = position / size
            let page = numbered(index, of: size, first)
            return PageRead(
                position % size == 0 && index > 0 ? [page, numbered(index - 1, of: size, first)] : [page])
        }
    }

    /// Plans a read of the page that begins at `position`. If no page begins there, plans a read of the last page that
    /// begins earlier.
    func page(at position: Int) -> PageRead {
        switch style {
        case .offset, .cursor: PageRead([PageRequest(offset: position, number: 0, size: size)])
        case .number(let first), .numberOfFixedSize(let first): PageRead([numbered(position / size, of: size, first)])
        }
    }

    private var sizes: ClosedRange<Int> { max(2, (size + 1) / 2)...max(2, size) }

    private func numbered(_ index: Int, of size: Int, _ first: Int) -> PageRequest {
        PageRequest(offset: index * size, number: first &+ index, size: size)
    }
}

/// A read of one part of a list, by one or two requests.
struct PageRead {
    /// The remaining requests, in order. If there are two, the one for the later page of the list is sent first.
    var requests: [PageRequest]
    /// The position of the first row in the list.
    let start: Int
    var items: [PageItem] = []
    /// Whether the rows include the last row of the list.
    var reachesEnd = false
    var total: Int?
    /// Whether some rows come from a cached response, which may be stale.
    var isCached = false
    private var hasBegun = false
    private let all: [PageRequest]

    var isShort: Bool { items.count < all.reduce(0) { $0 + $1.size } }

    init(again read: PageRead) { self.init(read.all) }

    init(_ requests: [PageRequest]) {
        self.requests = requests
        all = requests
        start = requests.last?.offset ?? 0
    }

    /// Adds the page that the current request returned.
    mutating func take(_ content: PageContent, isCached: Bool) {
        guard let request = requests.first else { preconditionFailure("a page belongs to a request") }
        requests.removeFirst()
        let isEnd = content.ends(request)
        total = content.total ?? total
        self.isCached = self.isCached || isCached
        if !hasBegun {
            (hasBegun, items, reachesEnd) = (true, content.items, isEnd)
        } else if isEnd, content.items.count < request.size {
            // The list became shorter between the two reads, so the later page, which was read first, is outdated.
            (items, reachesEnd) = (content.items, true)
        } else {
            items = content.items + items
        }
    }
}

extension PageContent {
    /// Returns whether the list ends with this page, which was requested by position.
    func ends(_ request: PageRequest) -> Bool {
        if items.isEmpty { return true }
        if let isLast { return isLast }
        let end = request.offset + items.count
        // A total that is less than the number of known rows is wrong and is ignored.
        if let total, total >= end { return total == end }
        return items.count < request.size
    }
}
