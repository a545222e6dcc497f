public import RunwayJSON

/// What an answer says of its page: the rows, which row is which, and what comes after.
public struct PageContent: Sendable {
    /// The array of the rows.
    public let rows: JSONValue
    /// The rows, each with its id where the API has ids.
    public let items: [PageItem]
    /// The cursor that asks for the page after this one; `nil` where there is none.
    public let nextCursor: String?
    /// How many rows the whole list has; `nil` where the answer does not say. A number below 0 says nothing.
    public let total: Int?
    /// Whether this is the last page; `nil` where the answer does not say.
    public let isLast: Bool?

    /// The longest cursor that is sent back, in bytes.
    public static let maximumCursorByteCount = 2048

    /// Reads the rows of a page.
    ///
    /// - Parameters:
    ///   - rows: The array of the rows.
    ///   - id: The member of every row that identifies it, for as long as the list lives: a string or an integer. `nil` where rows have
    ///     none, so that shifted rows can't be told.
    ///   - nextCursor: The cursor that asks for the page after this one. An empty one is none.
    ///   - total: How many rows the whole list has.
    ///   - isLast: Whether this is the last page.
    /// - Throws: `JSONError` where `rows` is not an array, ``UnusablePage`` for a row without id and for a cursor too long to be sent.
    public init(
        rows: JSONValue, id: String?, nextCursor: String? = nil, total: Int? = nil, isLast: Bool? = nil
    ) throws {
        try self.init(
            rows: rows, identifiedBy: id.map { id in { $0[id] } }, nextCursor: nextCursor, total: total, isLast: isLast)
    }

    /// Reads the rows of a page whose ids are found by a closure.
    ///
    /// - Parameters:
    ///   - rows: The array of the rows.
    ///   - id: Finds what identifies a row, a string or an integer: `{ $0["node"]["id"] }`.
    ///   - nextCursor: The cursor that asks for the page after this one. An empty one is none.
    ///   - total: How many rows the whole list has.
    ///   - isLast: Whether this is the last page.
    /// - Throws: `JSONError` where `rows` is not an array, ``UnusablePage`` for a row without id and for a cursor too long to be sent.
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
                "The cursor has \(nextCursor.utf8.count) bytes; at most \(Self.maximumCursorByteCount) are sent back.")
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

/// One row of a list, as its page had it.
public struct PageItem: Sendable {
    /// What identifies the row; `nil` where the API has no ids.
    public let id: String?
    /// The row. It keeps the page that it came with in memory.
    public let json: JSONValue
}

/// An answer in which no page can be found.
public struct UnusablePage: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with it, in one sentence, without secrets: it is shown in records and logs.
    public let description: String

    /// Makes the error.
    public init(_ description: String) { self.description = description }
}

extension UnusablePage: DescribedError {}
