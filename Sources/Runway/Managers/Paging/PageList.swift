import HTTPTypes
import RunwayJSON

/// The rows of a list that are in memory, and the answers that a reformer reads them in.
struct PageList<E: PagedEndpoint>: Sendable {
    private(set) var window = PageWindow()
    /// The rows, in the order of the list.
    private(set) var items: [PageItem] = []
    /// The rows that the last load brought and that were not there before.
    private(set) var newestItems: [PageItem] = []
    private(set) var answer: Answer?

    /// What landed last, with other rows in the place of its own.
    struct Answer: Sendable {
        let flight: Flight
        let endpoint: E
        let rawData: RawData
        let newestRawData: RawData
    }

    /// A list of which nothing has landed.
    init() {}

    /// The list once a load has ended with an answer.
    init(_ window: PageWindow, after old: [PageItem], by flight: Flight, _ endpoint: E, _ page: Page) {
        let known = Set(old.compactMap(\.id))
        self.window = window
        items = window.rows.map(\.item)
        newestItems =
            window.edgeID == nil && items.first?.id == nil
            ? Array(items.dropFirst(min(old.count, items.count)))
            : items.filter { $0.id.map { !known.contains($0) } ?? true }
        let rawData = page.holding(items)
        let isAllNew = newestItems.count == items.count
        answer = Answer(
            flight: flight, endpoint: endpoint, rawData: rawData,
            newestRawData: isAllNew ? rawData : page.holding(newestItems))
    }

    /// One answer, and the page that was found in it.
    struct Page: Sendable {
        let rawData: RawData
        let content: PageContent

        /// The answer with these rows in the place of its own, indexed.
        fileprivate func holding(_ items: [PageItem]) -> RawData {
            var document = rawData.json.rawBytes
            var range = content.rows.byteRange
            if !document.indices.contains(range) || document[range] != content.rows.rawBytes {
                // The rows are of another document, which stood inside the answer as text: they go without an envelope.
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
            // JSON that was read is UTF-8, in whatever charset it came.
            head.headerFields[.contentType] = "application/json"
            var held = RawData(bytes, response: head)
            held.source = rawData.source
            held.index()
            return held
        }
    }
}
