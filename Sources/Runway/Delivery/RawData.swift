import Foundation
public import HTTPTypes
public import RunwayJSON
import Synchronization

/// The response of a call: the bytes of the body, the head, and JSON read on demand.
///
/// ```swift
/// let title = raw["data"]["list"][3]["title"].string          // nil if any of it is missing
/// let price: Int = try raw["data"]["price"].require()         // throws an error that names the place
/// ```
///
/// The JSON is not parsed before it is needed; the first access indexes the document, once, in the task of that access.
public struct RawData: Sendable {
    /// The body, with transfer and content codings undone.
    public var bytes: [UInt8] { content.bytes }
    /// Status and header fields.
    public var response: HTTPResponse { content.response }
    /// The file that holds the body, if the call was a download of a ``DownloadManager``; ``bytes`` is then empty.
    public var file: DownloadedFile? { content.file }
    /// The source of the response.
    public internal(set) var source: ResponseSource = .network

    /// One object, since a response is copied many times, and a head by itself has a dozen strings to retain.
    private var content: Content

    /// Creates a response, for tests and previews. The default of its head is status 200 without fields.
    public init(_ bytes: [UInt8], response: HTTPResponse = HTTPResponse(status: .ok)) {
        content = Content(bytes: bytes, response: response, document: LazyDocument())
    }

    /// Creates the response of a download, whose body is in a file.
    init(_ file: DownloadedFile) {
        content = Content(bytes: [], response: file.response, document: LazyDocument(), file: file)
    }

    /// Returns the same body with another head. The index is reused, unless the other head has another content type.
    func with(response: HTTPResponse) -> RawData {
        guard response.headerFields[.contentType] == self.response.headerFields[.contentType] else {
            return RawData(bytes, response: response)
        }
        var copy = self
        copy.content = Content(bytes: bytes, response: response, document: content.document)
        return copy
    }

    /// The media type of the response; `nil` if it names none, or a malformed one.
    package var mediaType: MediaType? { response.headerFields[.contentType].flatMap { MediaType($0) } }

    /// The body as text, decoded by the WHATWG Encoding Standard.
    ///
    /// The encoding is named by a byte order mark, by the charset of `Content-Type`, or by an XML or HTML document
    /// itself; malformed bytes become U+FFFD. If no known encoding is named, the body is read as UTF-8.
    ///
    /// `nil` if no encoding is named and the bytes are not UTF-8, or if the system has no table for the encoding: glibc
    /// may be installed with only a few.
    public var text: String? {
        guard let encoding else { return String(validating: bytes, as: UTF8.self) }
        return encoding.text(bytes)
    }

    /// The encoding that is named for the body; `nil` if none is named.
    private var encoding: TextEncoding? { TextEncoding(of: bytes, typed: mediaType) }

    /// Whether the body is text in a named encoding other than UTF-8.
    package var isTranscoded: Bool { encoding.map { $0 != .utf8 } ?? false }

    /// The root of the body as JSON.
    ///
    /// If the body is not JSON, or exceeds `JSONLimits.default`, every lookup in this value returns an absent value,
    /// and every `require` throws the error of the body. For other limits create a `JSONDocument` from ``bytes``. A
    /// body that is not JSON in UTF-8 is read in the encoding that is named for ``text``.
    public var json: JSONValue {
        content.document.value {
            do throws(JSONError) {
                return try JSONDocument(bytes).root
            } catch {
                // JSON is UTF-8 and has no charset (RFC 8259 §8.1, §11); other bytes may still be in the encoding that
                // is named.
                guard error.kind != .limitExceeded, isTranscoded, let text else { return JSONValue(invalid: error) }
                do throws(JSONError) { return try JSONDocument(text).root } catch { return JSONValue(invalid: error) }
            }
        }
    }

    /// Indexes the JSON before it is needed, to relieve the main actor; does nothing for other bodies.
    func index() {
        if looksLikeJSON { _ = json }
    }

    /// The bytes of the JSON's index; 0 if there is no index yet.
    var indexByteCount: Int { content.document.indexByteCount }

    /// Whether the body is JSON by its media type or, since many servers name another type, by its first byte.
    private var looksLikeJSON: Bool {
        if mediaType?.isJSON == true { return true }
        let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// Whether the JSON was accessed.
    var isIndexed: Bool { content.document.isMade }

    /// A member of the root, if the body is a JSON object.
    public subscript(key: String) -> JSONValue { json[key] }

    /// An element of the root, if the body is a JSON array.
    public subscript(index: Int) -> JSONValue { json[index] }
}

/// The content that all copies of a response share.
private final class Content: Sendable {
    let bytes: [UInt8]
    let response: HTTPResponse
    let document: LazyDocument
    let file: DownloadedFile?

    init(bytes: [UInt8], response: HTTPResponse, document: LazyDocument, file: DownloadedFile? = nil) {
        self.bytes = bytes
        self.response = response
        self.document = document
        self.file = file
    }
}

/// The index of a body, created at its first use.
private final class LazyDocument: Sendable {
    /// Guards the root. It is held while the index is created, so that it is created only once.
    private let root = Mutex<JSONValue?>(nil)

    var isMade: Bool { root.withLock { $0 != nil } }
    var indexByteCount: Int { root.withLock { $0?.indexByteCount ?? 0 } }

    func value(_ make: () -> JSONValue) -> JSONValue {
        root.withLock { root in
            if let root { return root }
            let made = make()
            root = made
            return made
        }
    }
}

/// The source of a response. A switch needs a `default`, since later versions may add sources.
public struct ResponseSource: Sendable, Hashable, CustomStringConvertible {
    private enum Code: String { case network, cache, staleCache }

    private let code: Code

    private init(_ code: Code) { self.code = code }

    /// A server sent the response for this call.
    public static let network = ResponseSource(.network)
    /// The cache stored the response for an earlier call; it is fresh.
    public static let cache = ResponseSource(.cache)
    /// The cache stored the response for an earlier call; it is stale.
    public static let staleCache = ResponseSource(.staleCache)

    /// The source in one word, which is the same in all releases.
    public var name: String { code.rawValue }

    /// The source in one word.
    public var description: String { name }
}
