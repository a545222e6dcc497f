/// An API that returns one page of a list. A ``PagedAPIManager`` requests page after page of it.
///
/// ```swift
/// struct RentalList: PagedEndpoint {
///     static let service = Listings.self
///     static let paging = PageStyle.offset
///
///     var path: EndpointPath { "rental/list" }
///     var city: String
///     var offset = 0
///     var limit = 20
///
///     mutating func ask(for page: PageRequest) { (offset, limit) = (page.offset, page.size) }
///     func read(_ rawData: RawData) throws -> PageContent {
///         try PageContent(rows: rawData["result"]["items"], id: "zf_id", total: rawData["result"]["total"].int)
///     }
/// }
/// ```
///
/// If the rows have ids, the manager finds rows that shifted between two pages, and corrects the list. For that it also
/// requests rows that are already known: a further page by position begins with one (``PageStyle``). Without ids it
/// can't: it appends page after page.
public protocol PagedEndpoint: Endpoint {
    /// The way in which a request identifies its page.
    static var paging: PageStyle { get }
    /// The number of rows of a page. The default is 20; at least 1, and at least 2 if pages may overlap.
    static var pageSize: Int { get }

    /// Sets the parameters that identify the page to request.
    mutating func ask(for page: PageRequest)
    /// Finds the rows in a response, and how the list continues. Called off the main actor and on it.
    ///
    /// - Throws: The reason why the response has no page; the call fails as ``NetworkError/Kind/invalidResponse``.
    func read(_ rawData: RawData) throws -> PageContent
}

extension PagedEndpoint {
    /// 20 rows.
    public static var pageSize: Int { 20 }

    /// Refuses a response in which no page can be found, so that it is neither cached nor lands.
    ///
    /// An endpoint with a check of its own has to read the page in it too.
    public func validate(response: RawData) throws { _ = try read(response) }
}

/// The way in which a request identifies its page.
public enum PageStyle: Sendable, Hashable {
    /// The position of the page's first row, counted from 0. A new page begins with the last row of the previous one,
    /// which shows that no row was inserted between them: 19 rows of a page of 20 are new.
    case offset
    /// A page number, for pages of any size up to the page size. The number and the size are chosen so that the new
    /// page begins a little before the last known row, and overlaps the known rows.
    ///
    /// - Parameter first: The number of the first page.
    case number(first: Int = 1)
    /// A page number, for pages with only the page size. Such pages can't overlap: after a new page the previous one is
    /// read again, so that every page takes two requests, and an edit between these two that another undoes is not
    /// noticed.
    ///
    /// - Parameter first: The number of the first page.
    case numberOfFixedSize(first: Int = 1)
    /// A text that the previous page contained. The server promises that no row is missing between two pages.
    case cursor
}

/// The page that a call requests.
public struct PageRequest: Sendable, Hashable {
    /// The position of the first row, counted from 0. With ``PageStyle/cursor`` it is 0.
    public var offset: Int
    /// The number of the page, counted from the first number of its style. With ``PageStyle/offset`` and
    /// ``PageStyle/cursor`` it is 0.
    public var number: Int
    /// The number of rows to request.
    public var size: Int
    /// The cursor of the page; `nil` for the first page and with other styles.
    public var cursor: String?
}
