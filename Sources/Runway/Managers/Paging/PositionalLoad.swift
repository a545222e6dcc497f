import RunwayJSON

/// Loads pages that are identified by position or number.
///
/// The next page is requested so that it begins with known rows. A page *connects* if it contains known rows. If the
/// next page does not connect, earlier pages are requested until one connects, and then the pages after that one.
///
/// If the connecting rows have moved to greater positions, rows were inserted or moved before them. The rows in memory
/// are then read again from the first one until as many new rows are found.
struct PositionalLoad: PageLoad {
    private enum Phase {
        case first
        case onward(stride: Int)
        case again(foundCount: Int, isReordered: Bool)
        case before
        case locating
    }

    private let layout: PageLayout
    private let limits: PagingLimits
    private let direction: PageDirection
    private let knownIDs: Set<String>
    private var window: PageWindow
    private var phase = Phase.first
    private var read = PageRead([])
    private var isRefreshing = false
    private var extraRequestCount = 0
    /// The number of rows before ``PageWindow/edge`` that this load has found to be inserted.
    private var shift = 0

    init(_ direction: PageDirection, of window: PageWindow, _ layout: PageLayout, _ limits: PagingLimits) {
        self.direction = window.rows.isEmpty ? .first : direction
        self.layout = layout
        self.limits = limits
        self.window = window
        knownIDs = Set(window.rows.compactMap(\.item.id))
    }

    private var hasIDs: Bool { window.edgeID != nil }
    private var newCount: Int { window.rows.count { $0.item.id.map { !knownIDs.contains($0) } ?? true } }

    mutating func start() -> PageQuery {
        switch direction {
        case .first: return query(layout.page(at: 0), .first, .page)
        case .next:
            let read = hasIDs ? layout.read(onwardFrom: window.edge - 1) : layout.page(at: window.edge)
            return query(read, .onward(stride: 1), .page)
        case .previous:
            let read = hasIDs ? layout.read(upTo: window.start) : layout.page(at: max(0, window.start - layout.size))
            return query(read, .before, .page)
        }
    }

    mutating func take(_ content: PageContent, isCached: Bool) -> PageStep {
        let limit = max(limits.maximumItemCount, 3 * layout.size)
        guard content.items.count <= limit else {
            return .fail(.tooManyRows(content.items.count, limit: limit))
        }
        read.take(content, isCached: isCached)
        if let request = read.requests.first {
            return .ask(PageQuery(page: request, isRefreshing: isRefreshing, decision: .otherHalf))
        }
        switch phase {
        case .first:
            window.restart(with: read)
            return land()
        case .onward(let stride): return hasIDs ? connect(stride) : append()
        case .again(let foundCount, let isReordered): return readAgain(foundCount, isReordered)
        case .before: return hasIDs ? prepend() : prependWithoutIDs()
        case .locating:
            guard window.merge(read, .within) != nil else {
                guard !read.reachesEnd, read.items.count > 1 else { return notConnected }
                let end = read.start + read.items.count - 1
                return askFurther(layout.read(onwardFrom: end), .locating, .readAgain) ?? notConnected
            }
            return askFurther(layout.read(upTo: window.start), .before, .page) ?? notConnected
        }
    }

    // MARK: Next

    private mutating func connect(_ stride: Int) -> PageStep {
        var merged = window
        let change = merged.merge(read, .onward)
        let isExact =
            change.map { $0.shift == 0 && !$0.isReordered } ?? false
            && read.items.dropFirst(window.edge - 1 - read.start).first?.id == window.edgeID
        if read.isCached, !isExact, !isRefreshing {
            return askFurther(PageRead(again: read), phase, .refreshed) ?? notConnected
        }
        if let change, change.isCertain {
            // If a page ends with the last known row although it has room for more rows, the list ends there.
            if read.isShort, read.items.last?.id == window.edgeID { merged.isAtEnd = true }
            window = merged
            shift += max(0, change.shift)
            return nextStep()
        }
        if read.start == 0 {
            window.restart(with: read)
            return nextStep()
        }
        guard read.start > window.start || window.start == 0 else { return notConnected }
        let earlier = max(window.start, read.start - (layout.size - 1) * stride)
        return askFurther(layout.read(onwardFrom: earlier), .onward(stride: stride * 2), .steppedBack) ?? notConnected
    }

    private mutating func nextStep() -> PageStep {
        if !window.isAtEnd, newCount < max(1, layout.size / 2) {
            if let step = askFurther(layout.read(onwardFrom: window.edge - 1), .onward(stride: 1), .onward) {
                return step
            }
            if newCount == 0 { return .fail(.nothingNew(requests: extraRequestCount + 1)) }
        }
        guard shift > 0 else { return land() }
        window.unreadCount += shift
        let start = layout.read(onwardFrom: window.start)
        return askFurther(start, .again(foundCount: 0, isReordered: false), .readAgain) ?? land()
    }

    private mutating func readAgain(_ foundCount: Int, _ isReordered: Bool) -> PageStep {
        guard let change = window.merge(read, .within) else { return land() }
        let foundCount = foundCount + change.foundCount
        let isReordered = isReordered || change.isReordered
        let end = read.start + read.items.count
        if end >= window.edge || read.reachesEnd {
            window.unreadCount = 0
            return land()
        }
        // If rows are out of order, the number of found rows does not prove that all inserted rows were found. All rows
        // in memory must then be read again.
        if foundCount >= shift, !isReordered {
            window.unreadCount -= shift
            return land()
        }
        guard read.items.count > 1 else { return land() }
        return askFurther(
            layout.read(onwardFrom: end - 1), .again(foundCount: foundCount, isReordered: isReordered), .readAgain)
            ?? land()
    }

    private mutating func append() -> PageStep {
        let tail = window.rows.suffix(read.items.count).map(\.item.json.rawBytes)
        if read.items.count > 0, tail.count == read.items.count, !read.reachesEnd,
            zip(tail, read.items).allSatisfy({ $0.elementsEqual($1.json.rawBytes) })
        {
            return .fail(.repeatedPage)
        }
        window.rows += read.items.map { PageWindow.Row(item: $0) }
        window.edge += read.items.count
        window.isAtEnd = read.reachesEnd
        window.total = read.total ?? window.total
        return land()
    }

    // MARK: Previous

    private mutating func prepend() -> PageStep {
        guard window.merge(read, .before) != nil else {
            // The first row in memory was moved, so the search begins at its former position.
            return askFurther(layout.read(onwardFrom: window.start), .locating, .readAgain) ?? notConnected
        }
        guard newCount == 0, window.start > 0 else { return land() }
        return askFurther(layout.read(upTo: window.start), .before, .onward)
            ?? .fail(.nothingNew(requests: extraRequestCount + 1))
    }

    private mutating func prependWithoutIDs() -> PageStep {
        let items = read.items.prefix(max(0, window.start - read.start))
        window.rows = items.map { PageWindow.Row(item: $0) } + window.rows
        window.start = read.start
        return land()
    }

    // MARK: Requests

    private var notConnected: PageStep { .fail(.doesNotConnect(requests: extraRequestCount + 1)) }

    /// Returns a further request, or `nil` if the load has reached its limit of requests.
    private mutating func askFurther(_ next: PageRead, _ phase: Phase, _ decision: PagingDecision) -> PageStep? {
        guard extraRequestCount + next.requests.count <= limits.maximumExtraRequestCount else { return nil }
        extraRequestCount += next.requests.count
        // The response must show the current list, so no cached response may be used.
        return .ask(query(next, phase, decision, isRefreshing: true))
    }

    private mutating func query(
        _ next: PageRead, _ phase: Phase, _ decision: PagingDecision, isRefreshing: Bool = false
    ) -> PageQuery {
        read = next
        self.phase = phase
        self.isRefreshing = isRefreshing
        guard let request = next.requests.first else { preconditionFailure("a read has a request") }
        return PageQuery(page: request, isRefreshing: isRefreshing, decision: decision)
    }

    private func land() -> PageStep {
        var window = window
        let limit = max(limits.maximumItemCount, 3 * layout.size)
        if direction == .previous {
            window.dropLast(keeping: limit, byPages: false)
        } else {
            window.dropFirst(keeping: limit, byPages: false)
        }
        return .land(window)
    }
}
