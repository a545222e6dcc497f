#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Reads a JSON document. Stores the bytes and a compact index of them, which is made in one validating pass.
///
/// Before any value is returned, the whole document is validated against the grammar of RFC 8259 and the table of
/// well-formed UTF-8, so that every value is valid. Strings and numbers are read from the bytes only when they are
/// accessed.
///
/// ```swift
/// let document = try JSONDocument(#"{"data":{"list":[{"title":"Loft","price":4200}]}}"#)
/// let title = document.root["data"]["list"][0]["title"].string
/// ```
///
/// RFC 8259 leaves some choices open. A document decides them as follows:
///
/// - A byte order mark before the document is ignored (§8.1 allows it). UTF-16 and UTF-32 are refused, with an error
///   that names the encoding.
/// - If several members have the same name, a lookup finds the first, as Foundation's `JSONDecoder` does.
///   ``JSONValue/members`` has all of them (§4). Names are compared by their Unicode scalars, never by equivalence
///   (§8.3).
/// - A lone surrogate, which can only be written as an escape, is read as U+FFFD (§8.2).
/// - Numbers of any length are accepted (§6); a number that a type cannot hold reads as `nil`.
/// - Size, depth and number of values are limited by ``JSONLimits`` (§9).
///
/// A document never changes, so any number of tasks can read it and its values at once, without locks.
public struct JSONDocument: Sendable {
    let storage: JSONStorage

    /// Parses bytes. The document retains them without copying.
    ///
    /// - Throws: ``JSONError`` of kind `syntax`, `invalidUTF8` or `limitExceeded`, with offset, line and column.
    public init(_ bytes: [UInt8], limits: JSONLimits = .default) throws(JSONError) {
        if let storage = JSONStorage(indexing: bytes, limits: limits) {
            self.storage = storage
        } else {
            throw GrammarCheck.firstError(in: bytes, limits: limits)
        }
    }

    /// Parses data. The document copies the bytes.
    ///
    /// - Throws: ``JSONError`` of kind `syntax`, `invalidUTF8` or `limitExceeded`, with offset, line and column.
    public init(_ data: Data, limits: JSONLimits = .default) throws(JSONError) {
        if data.count > limits.effectiveByteCount { throw limits.tooLarge(data.count) }
        try self.init(Array(data), limits: limits)
    }

    /// Parses text. The document copies its UTF-8 bytes.
    ///
    /// - Throws: ``JSONError`` of kind `syntax` or `limitExceeded`, with offset, line and column.
    public init(_ text: String, limits: JSONLimits = .default) throws(JSONError) {
        if text.utf8.count > limits.effectiveByteCount { throw limits.tooLarge(text.utf8.count) }
        try self.init(Array(text.utf8), limits: limits)
    }

    /// The top-level value of the document.
    public var root: JSONValue { JSONValue(storage: storage, index: 0) }

    /// The size of the document in bytes, including white space and a byte order mark.
    public var byteCount: Int { storage.bytes.count }

    /// The bytes of the document, unchanged.
    public var bytes: [UInt8] { storage.bytes }
}
