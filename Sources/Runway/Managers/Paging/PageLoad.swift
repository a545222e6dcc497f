/// Decides which pages one load of a ``PagedAPIManager`` requests until the rows connect, and combines them.
///
/// A load works on a copy of the window, so that a load that fails has changed nothing.
protocol PageLoad: Sendable {
    /// Returns the first request.
    mutating func start() -> PageQuery
    /// Processes the page of the last request, and returns the next step.
    ///
    /// - Parameter isCached: Whether the response was cached, and may be stale.
    mutating func take(_ content: PageContent, isCached: Bool) -> PageStep
}

extension PagedEndpoint {
    /// Makes the load of a page, by the way in which the list is paged.
    static func pageLoad(_ direction: PageDirection, of window: PageWindow, _ limits: PagingLimits) -> any PageLoad {
        let size = max(1, pageSize)
        if paging == .cursor { return CursorLoad(direction, of: window, size: size, limits) }
        let overlaps = direction == .first || window.edgeID != nil
        return PositionalLoad(direction, of: window, PageLayout(paging, size: size, overlaps: overlaps), limits)
    }
}

/// A request of a load.
struct PageQuery: Sendable {
    let page: PageRequest
    /// Whether no cached response may be used.
    var isRefreshing = false
    /// The reason why the page is requested.
    let decision: PagingDecision
}

/// The next step of a load.
enum PageStep: Sendable {
    /// Requests a page.
    case ask(PageQuery)
    /// Ends with these rows.
    case land(PageWindow)
    /// Ends and changes nothing.
    case fail(PagingFailure)
}

/// The part of a list that a load is for.
enum PageDirection: Sendable {
    case first
    case next
    case previous
}

/// The reason why the pages of a list could not be combined.
package enum PagingFailure: Error, Hashable, CustomStringConvertible {
    /// The pages did not connect within the requests that one load may make. The list has to be loaded again.
    case doesNotConnect(requests: Int)
    /// No page of several had a new row.
    case nothingNew(requests: Int)
    /// The cursor of the next page equals an earlier one.
    case repeatedCursor
    /// The page is equal to the one before it.
    case repeatedPage
    /// The page has more rows than may be in memory.
    case tooManyRows(Int, limit: Int)
    /// The list has more pages than cursors are stored for.
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

/// The reason why a paged manager made a request, or failed a load, for the record.
package enum PagingDecision: StageDecision, Equatable {
    /// The load is for this page.
    case page
    /// Few rows of the previous page were new.
    case onward
    /// No row of the page after was known.
    case steppedBack
    /// Rows were inserted before the page after.
    case readAgain
    /// The cached page did not connect.
    case refreshed
    /// The page has two halves; this is the second.
    case otherHalf
    /// The pages could not be combined.
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
