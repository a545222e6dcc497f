/// An endpoint that returns one page of a list. A ``PagedAPIManager`` requests the pages one after the other.
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
/// If the rows have ids, the manager detects rows that moved from one page to another, and corrects the list. For this
/// it also requests rows that it already knows: a further page by position begins with a known row (``PageStyle``).
/// Without ids the manager can't detect such rows, and only appends each page.
public protocol PagedEndpoint: Endpoint {
    /// The way in which a request identifies its page.
    static var paging: PageStyle { get }
    /// The number of rows in a page. The default is 20; at least 1, and at least 2 if pages may overlap.
    static var pageSize: Int { get }

    /// Sets the parameters that identify the page to request.
    mutating func ask(for page: PageRequest)
    /// Finds the rows in a response, and how the list continues. Called on and off the main actor.
    ///
    /// - Throws: The reason why the response contains no valid page. The call fails as
    ///   ``NetworkError/Kind/invalidResponse``.
    func read(_ rawData: RawData) throws -> PageContent
}

extension PagedEndpoint {
    /// 20 rows, the default.
    public static var pageSize: Int { 20 }

    /// Refuses a response without a valid page, so that the response is neither delivered nor cached.
    ///
    /// An endpoint with its own implementation of this function must also call ``read(_:)`` in it.
    public func validate(response: RawData) throws { _ = try read(response) }
}

/// The way in which a request identifies its page.
public enum PageStyle: Sendable, Hashable {
    /// The position of the page's first row, counted from 0. A new page begins with the last row of the previous page,
    /// to prove that no row was inserted between the pages. With 20 rows in a page, 19 are therefore new.
    case offset
    /// A page number, for APIs that accept any page size up to ``PagedEndpoint/pageSize``. Number and size are chosen
    /// so that a new page overlaps the known rows.
    ///
    /// - Parameter first: The number of the first page.
    case number(first: Int = 1)
    /// A page number, for APIs with a fixed page size. Such pages can't overlap, so the previous page is read again
    /// after each new page, and every page takes two requests. A change between the two requests that is undone by
    /// another change is not noticed.
    ///
    /// - Parameter first: The number of the first page.
    case numberOfFixedSize(first: Int = 1)
    /// A text that the previous page contained. The server promises that no row is missing between two pages.
    case cursor
}

/// The page that a call requests.
public struct PageRequest: Sendable, Hashable {
    /// The position of the first row, counted from 0; always 0 with ``PageStyle/cursor``.
    public var offset: Int
    /// The number of the page, counted from the first number of its style; 0 with ``PageStyle/offset`` and
    /// ``PageStyle/cursor``.
    public var number: Int
    /// The number of rows to request.
    public var size: Int
    /// The cursor of the page; `nil` for the first page, and for other styles.
    public var cursor: String?
}
