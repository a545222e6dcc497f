public import RunwayJSON

/// One page of a list, as an endpoint found it in a response: its rows, their ids, and how the list continues.
public struct PageContent: Sendable {
    /// The JSON array of the rows.
    public let rows: JSONValue
    /// The rows with their ids. The ids are `nil` if the API has none.
    let items: [PageItem]
    /// The cursor of the next page; `nil` if the response contains none.
    public let nextCursor: String?
    /// The number of rows in the whole list; `nil` if the response does not state it.
    public let total: Int?
    /// Whether this is the last page; `nil` if the response does not say so.
    public let isLast: Bool?

    /// The maximum length of a cursor in bytes.
    public static let maximumCursorByteCount = 2048

    /// Creates a page from the rows of a response.
    ///
    /// - Parameters:
    ///   - rows: The array of the rows.
    ///   - id: The member of every row that identifies it: a string or an integer that never changes while the list
    ///     exists. Pass `nil` if rows have no ids. Rows that move from one page to another during a load are then not
    ///     detected.
    ///   - nextCursor: The cursor of the next page. `nil`, the default, or an empty text means that there is none.
    ///   - total: The number of rows in the whole list. `nil`, the default, or a negative number means that it is
    ///     unknown.
    ///   - isLast: Whether this is the last page. The default is `nil`.
    /// - Throws: `JSONError` if `rows` is not an array; an error that names the row if a row has no id; an error if the
    ///   cursor has more than ``maximumCursorByteCount`` bytes.
    public init(
        rows: JSONValue, id: String?, nextCursor: String? = nil, total: Int? = nil, isLast: Bool? = nil
    ) throws {
        try self.init(
            rows: rows, identifiedBy: id.map { id in { $0[id] } }, nextCursor: nextCursor, total: total, isLast: isLast)
    }

    /// Creates a page from the rows of a response. A closure finds the id of each row.
    ///
    /// - Parameters:
    ///   - rows: The array of the rows.
    ///   - id: Returns the identifier of a row, a string or an integer: `{ $0["node"]["id"] }`.
    ///   - nextCursor: The cursor of the next page. `nil`, the default, or an empty text means that there is none.
    ///   - total: The number of rows in the whole list. `nil`, the default, or a negative number means that it is
    ///     unknown.
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

struct PageItem: Sendable {
    /// The identifier of the row; `nil` if the API has no ids.
    let id: String?
    /// The row. It retains the whole page in memory.
    let json: JSONValue
}

/// The error of a response that contains no valid page.
struct UnusablePage: Error, DescribedError {
    /// The reason in one sentence. It contains no secrets, because records and logs show it.
    let description: String

    init(_ description: String) { self.description = description }
}
