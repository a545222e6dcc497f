/// An API whose answer is one page of a list. A ``PagedAPIManager`` asks it for page after page.
///
/// ```swift
/// struct RentalList: PagedEndpoint {
///     static let service = Listings.self
///     static let paging = PageStyle.offset
///     var path: EndpointPath { "rental/list" }
///     var city: String
///     var offset = 0
///     var limit = 20
///     mutating func ask(for page: PageRequest) { (offset, limit) = (page.offset, page.size) }
///     func read(_ rawData: RawData) throws -> PageContent {
///         try PageContent(rows: rawData["result"]["items"], id: "zf_id", total: rawData["result"]["total"].int)
///     }
/// }
/// ```
///
/// Where the rows have an id the manager can see that rows shifted between two pages, and puts it right. Without ids it can't: pages
/// are then put one after the other as they come.
public protocol PagedEndpoint: Endpoint {
    /// How the API is asked for a page.
    static var paging: PageStyle { get }
    /// How many rows a page is asked for with. The default is 20; at least 1, and at least 2 where pages may overlap.
    static var pageSize: Int { get }

    /// Makes this call ask for a page.
    mutating func ask(for page: PageRequest)
    /// Finds the rows in an answer, and what it says of the list. Called off the main actor and on it.
    ///
    /// - Throws: What is wrong with the answer; the call fails as ``NetworkError/Kind/invalidResponse``.
    func read(_ rawData: RawData) throws -> PageContent
}

extension PagedEndpoint {
    /// 20 rows.
    public static var pageSize: Int { 20 }

    /// Refuses an answer in which no page can be found, so that it is neither kept nor landed.
    ///
    /// An endpoint that has a check of its own has to read the page in it too.
    public func validate(response: RawData) throws { _ = try read(response) }
}

/// How an API is asked for a page.
public enum PageStyle: Sendable, Hashable {
    /// By the position of its first row, counted from 0. A new page begins with the last row of the page before it, which shows
    /// that no row came between: of a page of 20, 19 rows are new.
    case offset
    /// By a number, for pages of any size up to the page size. The number and the size are chosen so that the new page begins a
    /// little before the edge of what is known, and overlaps it.
    ///
    /// - Parameter first: The number of the first page.
    case number(first: Int = 1)
    /// By a number, for pages of the page size and no other. Such pages can't overlap: after a new page the one before it is read
    /// again, so that every page costs two requests, and an edit between these two that another undoes is not seen.
    ///
    /// - Parameter first: The number of the first page.
    case numberOfFixedSize(first: Int = 1)
    /// By a text that came with the page before. That nothing is left out between two pages is the server's promise.
    case cursor
}

/// The page that a call is to ask for.
public struct PageRequest: Sendable, Hashable {
    /// The position of the first row, counted from 0. Of ``PageStyle/cursor`` it is 0.
    public var offset: Int
    /// The number of the page, counted as its style says. Of ``PageStyle/offset`` and ``PageStyle/cursor`` it is 0.
    public var number: Int
    /// How many rows are wanted.
    public var size: Int
    /// The cursor that asks for the page; `nil` for the first page and for other styles.
    public var cursor: String?
}
