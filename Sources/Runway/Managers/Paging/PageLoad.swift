/// One load of a ``PagedAPIManager``: which pages are asked for until the rows connect, and what they make of the window.
///
/// It works on a window of its own, so that a load that fails has changed nothing.
protocol PageLoad: Sendable {
    /// The first request.
    mutating func begin() -> PageStep
    /// Takes the answer to the request that was asked for last.
    ///
    /// - Parameter isKept: Whether the answer was kept from an earlier call, and may be out of date.
    mutating func take(_ content: PageContent, isKept: Bool) -> PageStep
}

/// What a load does next.
enum PageStep: Sendable {
    /// Asks for a page.
    ///
    /// - Parameter isRefreshing: Whether an answer that is kept may not be taken.
    case ask(PageRequest, isRefreshing: Bool, because: PagingDecision)
    /// Ends with these rows.
    case land(PageWindow)
    /// Ends with nothing changed.
    case fail(PagingFailure)
}

/// Where a load goes.
enum PageDirection: Sendable {
    case first
    case next
    case previous
}

/// Why the pages of a list could not be put together.
public enum PagingFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The pages did not connect within the requests that one load may make: load the list anew.
    case doesNotConnect(requests: Int)
    /// Page after page had no row that was new.
    case nothingNew(requests: Int)
    /// The cursor of the next page was that of an earlier one.
    case repeatedCursor
    /// A page came that is the page before it.
    case repeatedPage
    /// A page had more rows than may be in memory.
    case tooManyRows(Int, limit: Int)
    /// The list has more pages than may be kept in mind.
    case tooManyPages(limit: Int)

    /// The failure in one sentence.
    public var description: String {
        switch self {
        case .doesNotConnect(let count):
            "The list changed so much that its pages did not connect within \(count) requests; load it anew."
        case .nothingNew(let count):
            "The server gave no new row in \(count) requests, and does not say that the list ends."
        case .repeatedCursor: "The server gave a cursor for the next page that it had given for an earlier one."
        case .repeatedPage: "The server gave the same page again."
        case .tooManyRows(let count, let limit): "The page has \(count) rows; at most \(limit) are kept."
        case .tooManyPages(let limit): "The list has more than \(limit) pages."
        }
    }
}

/// What a paged manager made of one request, for the record.
package enum PagingDecision: StageDecision, Equatable {
    /// The page that was asked for.
    case page
    /// Few rows of the page were new, so another was asked for.
    case onward
    /// No row of the page was known, so that an earlier one was read.
    case steppedBack
    /// Rows came to places before the page, so that pages before it were read again.
    case readAgain
    /// The kept answer did not connect, so that the page was asked for past what is kept.
    case refreshed
    /// The page has two halves, of which this is the second.
    case otherHalf
    /// The pages could not be put together.
    case failed(PagingFailure)

    package static var step: FlightStep { .landing }

    package var entry: DecisionEntry {
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
