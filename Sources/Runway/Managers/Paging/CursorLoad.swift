/// Loads pages that are identified by a cursor.
///
/// The server promises that a page begins where the previous page ended. A row that is returned a second time was
/// moved, and takes its new position. After a page without new rows the next page is requested, because a filter of the
/// server may have emptied the page.
struct CursorLoad: PageLoad {
    private let size: Int
    private let limits: PagingLimits
    private let direction: PageDirection
    private var window: PageWindow
    private var cursor: String?
    private var requestCount = 1
    /// The rows that this load has read so far from the page that precedes the rows in memory.
    private var gathered: [PageItem] = []

    init(_ direction: PageDirection, of window: PageWindow, size: Int, _ limits: PagingLimits) {
        self.direction = direction
        self.size = size
        self.limits = limits
        self.window = direction == .first ? PageWindow() : window
    }

    private var limit: Int { max(limits.maximumItemCount, 3 * size) }

    mutating func start() -> PageQuery {
        cursor = direction == .previous ? window.cursors[max(0, window.firstPage - 1)] : window.cursors.last ?? nil
        return query(.page)
    }

    mutating func take(_ content: PageContent, isCached: Bool) -> PageStep {
        guard content.items.count <= limit else {
            return .fail(.tooManyRows(content.items.count, limit: limit))
        }
        window.total = content.total ?? window.total
        return direction == .previous ? prepend(content) : append(content)
    }

    private mutating func append(_ content: PageContent) -> PageStep {
        let page = window.cursors.count - 1
        let next = content.isLast == true ? nil : content.nextCursor
        if let next {
            if window.cursors.contains(next) { return .fail(.repeatedCursor) }
            guard window.cursors.count < limits.maximumCursorCount else {
                return .fail(.tooManyPages(limit: limits.maximumCursorCount))
            }
            window.cursors.append(next)
        }
        window.isAtEnd = next == nil
        let known = window.indices()
        var seen: Set<String> = []
        let items = content.items.filter { $0.id.map { seen.insert($0).inserted } ?? true }
        let isNew = items.contains { $0.id.map { known[$0] == nil } ?? true }
        if isNew {
            window.rows.removeAll { $0.item.id.map { seen.contains($0) } ?? false }
            window.rows += items.map { PageWindow.Row(item: $0, page: page) }
        } else if next != nil {
            guard requestCount <= limits.maximumExtraRequestCount else {
                return .fail(.nothingNew(requests: requestCount))
            }
            requestCount += 1
            cursor = next
            return .ask(query(.onward))
        }
        window.dropFirst(keeping: limit, byPages: true)
        return .land(window)
    }

    private mutating func prepend(_ content: PageContent) -> PageStep {
        let known = window.indices()
        let page = max(0, window.firstPage - 1)
        let meetsWindow = content.items.contains { $0.id.map { known[$0] != nil } ?? true }
        gathered += content.items
        guard meetsWindow || content.nextCursor == nil || content.nextCursor == window.cursors[window.firstPage] else {
            // Rows were inserted into the previous page, so its last rows moved to this page.
            guard requestCount <= limits.maximumExtraRequestCount else {
                return .fail(.doesNotConnect(requests: requestCount))
            }
            requestCount += 1
            cursor = content.nextCursor
            return .ask(query(.onward, isRefreshing: true))
        }
        var seen: Set<String> = []
        let items = gathered.filter { item in
            item.id.map { known[$0] == nil && seen.insert($0).inserted } ?? true
        }
        window.rows = items.map { PageWindow.Row(item: $0, page: page) } + window.rows
        window.firstPage = page
        window.dropLast(keeping: limit, byPages: true)
        return .land(window)
    }

    private func query(_ decision: PagingDecision, isRefreshing: Bool = false) -> PageQuery {
        PageQuery(
            page: PageRequest(offset: 0, number: 0, size: size, cursor: cursor), isRefreshing: isRefreshing,
            decision: decision)
    }
}
