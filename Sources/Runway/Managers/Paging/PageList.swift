import HTTPTypes
import RunwayJSON

/// The rows of a list that are in memory, and the responses in which a reformer reads them.
struct PageList<E: PagedEndpoint>: Sendable {
    private(set) var window = PageWindow()
    /// The rows, in the order of the list.
    private(set) var items: [PageItem] = []
    /// The JSON of the rows, in the order of the list.
    private(set) var rows: [JSONValue] = []
    /// The JSON of the rows that the last load added.
    private(set) var newestRows: [JSONValue] = []
    private(set) var response: Response?

    /// The response that landed last, with other rows instead of its own.
    struct Response: Sendable {
        let flight: Flight
        let endpoint: E
        let rawData: RawData
        let newestRawData: RawData
    }

    /// Creates a list without a landing.
    init() {}

    /// Creates a list from the window after a load and the last page of that load.
    init(_ window: PageWindow, after old: [PageItem], by flight: Flight, _ endpoint: E, _ page: Page) {
        let known = Set(old.compactMap(\.id))
        self.window = window
        items = window.rows.map(\.item)
        let newestItems =
            window.edgeID == nil && items.first?.id == nil
            ? Array(items.dropFirst(min(old.count, items.count)))
            : items.filter { $0.id.map { !known.contains($0) } ?? true }
        rows = items.map(\.json)
        newestRows = newestItems.map(\.json)
        let rawData = page.holding(items)
        let isAllNew = newestItems.count == items.count
        response = Response(
            flight: flight, endpoint: endpoint, rawData: rawData,
            newestRawData: isAllNew ? rawData : page.holding(newestItems))
    }

    /// The page that a load requests to continue after the last row: the first page if there are no rows, or they
    /// belong to an account that is no longer signed in; `nil` at the end of the list.
    var next: PageDirection? {
        guard belongsToCurrentAccount else { return .first }
        if window.isAtEnd { return nil }
        return window.rows.isEmpty ? .first : .next
    }

    /// The page that a load requests to continue before the first row: the first page if the rows belong to an account
    /// that is no longer signed in; `nil` at the start of the list.
    var previous: PageDirection? {
        guard belongsToCurrentAccount else { return .first }
        return window.isAtStart ? nil : .previous
    }

    /// Whether the rows were loaded for the account that is signed in, or without an account.
    private var belongsToCurrentAccount: Bool { response?.flight.belongsToCurrentAccount ?? true }

    /// A response, and the page that the endpoint found in it.
    struct Page: Sendable {
        let rawData: RawData
        let content: PageContent

        /// Returns the response with these rows instead of its own, indexed.
        fileprivate func holding(_ items: [PageItem]) -> RawData {
            var document = rawData.json.rawBytes
            var range = content.rows.byteRange
            if !document.indices.contains(range) || document[range] != content.rows.rawBytes {
                // The rows are of another document, which the response contained as text: they get no envelope.
                (document, range) = ([], 0..<0)
            } else if items.elementsEqual(content.items, by: { $0.json.rawBytes == $1.json.rawBytes }) {
                return rawData
            }
            var bytes = Array(document[..<range.lowerBound])
            bytes.append(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes += item.json.rawBytes
            }
            bytes.append(UInt8(ascii: "]"))
            bytes += document[range.upperBound...]
            var head = rawData.response
            // JSON is UTF-8 once it was read, whatever charset the response had.
            head.headerFields[.contentType] = "application/json"
            var held = RawData(bytes, response: head)
            held.source = rawData.source
            held.index()
            return held
        }
    }
}
