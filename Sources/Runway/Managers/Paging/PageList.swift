import HTTPTypes
import RunwayJSON

/// The rows of a list that are in memory, and a response that contains them for reformers.
struct PageList<E: PagedEndpoint>: Sendable {
    private(set) var window = PageWindow()
    /// The rows, in the order of the list.
    private(set) var items: [PageItem] = []
    /// The JSON of the rows, in the order of the list.
    private(set) var rows: [JSONValue] = []
    /// The JSON of the rows that the last load added.
    private(set) var newestRows: [JSONValue] = []
    private(set) var response: Response?

    /// The response that was delivered last, with all rows in memory in place of its own rows.
    struct Response: Sendable {
        let flight: Flight
        let endpoint: E
        let rawData: RawData
        let newestRawData: RawData
    }

    init() {}

    /// Creates the list after a load: the rows of the load's `window`, and a response that contains all of these rows
    /// in place of the rows of the last `page`.
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

    /// The page to load after the last row; `nil` at the end of the list. It is the first page if there are no rows or
    /// if they belong to an account that is no longer signed in.
    var next: PageDirection? {
        guard belongsToCurrentAccount else { return .first }
        if window.isAtEnd { return nil }
        return window.rows.isEmpty ? .first : .next
    }

    /// The page to load before the first row; `nil` at the start of the list. It is the first page if the rows belong
    /// to an account that is no longer signed in.
    var previous: PageDirection? {
        guard belongsToCurrentAccount else { return .first }
        return window.isAtStart ? nil : .previous
    }

    /// Whether the rows were loaded for the current account, or without an account.
    private var belongsToCurrentAccount: Bool { response?.flight.belongsToCurrentAccount ?? true }

    /// A response with the page that the endpoint found in it.
    struct Page: Sendable {
        let rawData: RawData
        let content: PageContent

        /// Returns the response with these rows in place of its own rows. The JSON index of the returned response is
        /// already created.
        fileprivate func holding(_ items: [PageItem]) -> RawData {
            var document = rawData.json.rawBytes
            var range = content.rows.byteRange
            if !document.indices.contains(range) || document[range] != content.rows.rawBytes {
                // The rows come from another JSON document, which the response contained as text. So the JSON around
                // the rows in the response does not apply.
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
            // The new body is UTF-8, even if the response had another charset.
            head.headerFields[.contentType] = "application/json"
            var held = RawData(bytes, response: head)
            held.source = rawData.source
            held.index()
            return held
        }
    }
}
