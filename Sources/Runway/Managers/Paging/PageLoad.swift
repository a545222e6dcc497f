/// Decides which pages one load of a ``PagedAPIManager`` requests, and combines them. A load requests pages until the
/// rows that it has read connect to the rows in memory.
///
/// A load works on a copy of the ``PageWindow``, so a failed load has changed nothing.
protocol PageLoad: Sendable {
    /// Returns the first request.
    mutating func start() -> PageQuery
    /// Processes the page of the last request, and returns the next step.
    ///
    /// - Parameter isCached: Whether the response came from the cache and may be stale.
    mutating func take(_ content: PageContent, isCached: Bool) -> PageStep
}

extension PagedEndpoint {
    /// Creates the load of a page, for the paging style of the list.
    static func pageLoad(_ direction: PageDirection, of window: PageWindow, _ limits: PagingLimits) -> any PageLoad {
        let size = max(1, pageSize)
        if paging == .cursor { return CursorLoad(direction, of: window, size: size, limits) }
        let overlaps = direction == .first || window.edgeID != nil
        return PositionalLoad(direction, of: window, PageLayout(paging, size: size, overlaps: overlaps), limits)
    }
}

struct PageQuery: Sendable {
    let page: PageRequest
    /// Whether cached responses must not be used.
    var isRefreshing = false
    /// The reason for requesting the page.
    let decision: PagingDecision
}

/// The next step of a load.
enum PageStep: Sendable {
    case ask(PageQuery)
    /// End the load with these rows.
    case land(PageWindow)
    /// End the load without changing the list.
    case fail(PagingFailure)
}

/// The part of a list that a load reads.
enum PageDirection: Sendable {
    case first
    case next
    case previous
}

/// The reason why the pages of a list could not be combined.
package enum PagingFailure: Error, Hashable, CustomStringConvertible {
    /// The pages that one load may request had no row in common with the rows in memory. The app must reload the list.
    case doesNotConnect(requests: Int)
    /// Several pages in a row contained no new row.
    case nothingNew(requests: Int)
    /// The cursor of the next page equals an earlier cursor.
    case repeatedCursor
    /// The page equals the previous page.
    case repeatedPage
    /// The page has more rows than the limit for rows in memory.
    case tooManyRows(Int, limit: Int)
    /// The list has more pages than the limit for stored cursors.
    case tooManyPages(limit: Int)

    package var description: String {
        switch self {
        case .doesNotConnect(let count):
            "The list changed so much that its pages did not connect within \(count) requests; load it again."
        case .nothingNew(let count):
            "The server returned no new row in \(count) requests, and not the end of the list."
        case .repeatedCursor: "The server returned the cursor of an earlier page for the next one."
        case .repeatedPage: "The server returned the same page again."
        case .tooManyRows(let count, let limit): "The page has \(count) rows; at most \(limit) are stored."
        case .tooManyPages(let limit): "The list has more than \(limit) pages."
        }
    }
}

/// The reason why a paged manager sent a request or failed a load. The record shows it.
package enum PagingDecision: StageDecision, Equatable {
    /// The request is for the page that the load was made for.
    case page
    /// Few rows of the previous page were new, so the next page is read, too.
    case onward
    /// The next page contained no known row, so an earlier page is read.
    case steppedBack
    /// Rows were inserted before the next page, so earlier pages are read again.
    case readAgain
    /// The cached page did not connect to the rows in memory, so the page is requested from the server.
    case refreshed
    /// The request is the second of two requests for one read.
    case otherHalf
    case failed(PagingFailure)

    package static var step: FlightStep { .landing }

    package var entry: DecisionRecord {
        switch self {
        case .page: .init("page", "a page of a list")
        case .onward: .init("nextPage", "another page, since few rows were new")
        case .steppedBack: .init("previousPage", "an earlier page, since no row was known")
        case .readAgain: .init("pageReread", "a known page again, since rows came before its end")
        case .refreshed: .init("pageRefreshed", "the page from the server, since the cached one does not connect")
        case .otherHalf: .init("secondHalf", "the second half of a page")
        case .failed(let failure): .init("pagingFailed", "the pages could not be combined: \(failure)")
        }
    }
}
