public import RunwayJSON

/// The page that an endpoint finds in a response: its rows, their ids, and how the list continues.
public struct PageContent: Sendable {
    /// The array of the rows.
    public let rows: JSONValue
    /// The rows, with their ids if the API has ids.
    let items: [PageItem]
    /// The cursor of the next page; `nil` if there is none.
    public let nextCursor: String?
    /// The number of rows in the whole list; `nil` if the response does not state it.
    public let total: Int?
    /// Whether this is the last page; `nil` if the response does not say so.
    public let isLast: Bool?

    /// The greatest length of a cursor, in bytes.
    public static let maximumCursorByteCount = 2048

    /// Reads the rows of a page.
    ///
    /// - Parameters:
    ///   - rows: The array of the rows.
    ///   - id: The member of every row that identifies it, unchanged for as long as the list exists: a string or an
    ///     integer. `nil` if rows have none; rows that shift between two pages are not found then.
    ///   - nextCursor: The cursor of the next page. The default, `nil`, means none, as does an empty one.
    ///   - total: The number of rows in the whole list. The default is `nil`, which a number below 0 means too.
    ///   - isLast: Whether this is the last page. The default is `nil`.
    /// - Throws: `JSONError` if `rows` is not an array; an error that names the row if a row has no id; an error if the
    ///   cursor has more than ``maximumCursorByteCount`` bytes.
    public init(
        rows: JSONValue, id: String?, nextCursor: String? = nil, total: Int? = nil, isLast: Bool? = nil
    ) throws {
        try self.init(
            rows: rows, identifiedBy: id.map { id in { $0[id] } }, nextCursor: nextCursor, total: total, isLast: isLast)
    }

    /// Reads the rows of a page whose ids a closure finds.
    ///
    /// - Parameters:
    ///   - rows: The array of the rows.
    ///   - id: Returns the identifier of a row, a string or an integer: `{ $0["node"]["id"] }`.
    ///   - nextCursor: The cursor of the next page. The default, `nil`, means none, as does an empty one.
    ///   - total: The number of rows in the whole list. The default is `nil`, which a number below 0 means too.
    ///   - isLast: Whether this is the last page. The default is `nil`.
    /// - Throws: `JSONError` if `rows` is not an array; an error that names the row if a row has no id; an error if the
    ///   cursor has more than ``maximumCursorByteCount`` bytes.
    public init(
        rows: JSONValue, identifiedBy id: ((JSONValue) -> JSONValue)?, nextCursor: String? = nil, total: Int? = nil,
        isLast: Bool? = nil
    ) throws {
        guard rows.kind == .array else {
            _ = try rows.require([JSONValue].self)
            throw UnusablePage("The rows are not an array.")
        }
        if let nextCursor, nextCursor.utf8.count > Self.maximumCursorByteCount {
            throw UnusablePage(
                "The cursor has \(nextCursor.utf8.count) bytes; at most \(Self.maximumCursorByteCount) are allowed.")
        }
        var items: [PageItem] = []
        items.reserveCapacity(rows.count)
        for row in rows.elements {
            guard let id else {
                items.append(PageItem(id: nil, json: row))
                continue
            }
            let value = id(row)
            guard let text = value.string ?? (value.isInteger ? String(decoding: value.rawBytes, as: UTF8.self) : nil)
            else { throw UnusablePage("The row \(row.path) has no id that is a string or an integer.") }
            items.append(PageItem(id: text, json: row))
        }
        self.rows = rows
        self.items = items
        self.nextCursor = nextCursor.flatMap { $0.isEmpty ? nil : $0 }
        self.total = total.flatMap { $0 < 0 ? nil : $0 }
        self.isLast = isLast
    }
}

/// One row of a list.
struct PageItem: Sendable {
    /// The identifier of the row; `nil` if the API has no ids.
    let id: String?
    /// The row. It holds the page that it is part of in memory.
    let json: JSONValue
}

/// The error of a response in which no page can be found.
struct UnusablePage: Error, DescribedError {
    /// The reason in one sentence, without secrets: records and logs show it.
    let description: String

    init(_ description: String) { self.description = description }
}
