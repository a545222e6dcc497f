package import RunwayJSON

/// The error of a message or a stored value that is not well formed.
package struct WireError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The place in the message, and what was expected there. It contains no value of the message.
    package let description: String

    init(_ description: String) { self.description = description }

    init(_ value: JSONValue, expected: String) { description = "\(value.path): expected \(expected)" }
}

/// A value with a form in JSON, in messages and in the tables of stores. See docs/formats.md.
package protocol WireCodable {
    func write(to writer: inout JSONWriter)
    init(_ value: JSONValue) throws(WireError)
}

extension WireCodable {
    /// The value as JSON, compact. Equal values have equal bytes.
    package func encoded() -> [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }

    /// Reads a value from JSON.
    ///
    /// - Throws: ``WireError`` if the bytes are no JSON, exceed a bound of ``WireBounds``, or have another form.
    package init(encoded bytes: [UInt8]) throws(WireError) {
        do {
            try self.init(JSONDocument(bytes, limits: WireBounds.document).root)
        } catch let error as WireError {
            throw error
        } catch {
            throw WireError("not JSON, or too large")
        }
    }
}

/// The bounds of messages. A message that exceeds one is malformed.
package enum WireBounds {
    /// The largest body in bytes: 32 MiB. A transaction has at most 4 MiB of values, of which each byte can take six
    /// bytes in JSON.
    package static let bodyBytes = 32 << 20
    /// The largest name of a table or a column, in bytes of UTF-8.
    package static let nameBytes = 255
    /// The largest number of columns of a row. SQLite's default limit is the same.
    package static let columns = 2_000
    /// The largest number of transactions, verdicts or decisions in a message that is read.
    static let transactions = 10_000
    /// The largest number of conditions of a batch update.
    package static let conditions = 100
    /// The largest integer that is written as a number of JSON, and the largest number, life, offset or count.
    package static let number: Int64 = 1 << 53

    /// Whether a text may name a table or a column. PostgreSQL has no text with NUL.
    static func isName(_ text: String) -> Bool { 1...nameBytes ~= text.utf8.count && !text.utf8.contains(0) }

    static let document = JSONLimits(
        maximumByteCount: bodyBytes, maximumDepth: 24, maximumValueCount: 2_000_000)
}
