import Foundation
public import HTTPTypes
public import RunwayJSON
import Synchronization

/// The response of a call: the bytes of the body, the status and header fields, and JSON that is read on demand.
///
/// ```swift
/// let title = raw["data"]["list"][3]["title"].string          // nil if any of it is missing
/// let price: Int = try raw["data"]["price"].require()         // throws an error that names the place
/// ```
///
/// The JSON is not parsed until it is needed. The first access indexes the document, once, in the task that makes the
/// access.
public struct RawData: Sendable {
    /// The body after transfer and content codings have been removed.
    public var bytes: [UInt8] { content.bytes }
    /// The status and header fields of the response.
    public var response: HTTPResponse { content.response }
    /// The file that holds the body if a ``DownloadManager`` made the call; otherwise `nil`. If there is a file,
    /// ``bytes`` is empty.
    public var file: DownloadedFile? { content.file }
    /// The source of the response: the network or the cache. The default is ``ResponseSource/network``.
    public internal(set) var source: ResponseSource = .network

    /// Responses are copied often, and the header fields contain many strings to retain. All copies therefore share one
    /// object.
    private var content: Content

    /// Creates a response, for tests and previews. The default `response` has status 200 and no header fields.
    public init(_ bytes: [UInt8], response: HTTPResponse = HTTPResponse(status: .ok)) {
        content = Content(bytes: bytes, response: response, document: LazyDocument())
    }

    /// Creates the response of a download. The body is in the file.
    init(_ file: DownloadedFile) {
        content = Content(bytes: [], response: file.response, document: LazyDocument(), file: file)
    }

    /// Returns a response with the same body but other status and header fields. The JSON index is reused unless the
    /// content type differs.
    func with(response: HTTPResponse) -> RawData {
        guard response.headerFields[.contentType] == self.response.headerFields[.contentType] else {
            return RawData(bytes, response: response)
        }
        var copy = self
        copy.content = Content(bytes: bytes, response: response, document: content.document)
        return copy
    }

    /// The media type of the response; `nil` if the `Content-Type` field is absent or malformed.
    package var mediaType: MediaType? { response.headerFields[.contentType].flatMap { MediaType($0) } }

    /// The body as text, decoded by the WHATWG Encoding Standard.
    ///
    /// The encoding is determined by a byte order mark, by the charset of `Content-Type`, or by a declaration in an XML
    /// or HTML body. Malformed bytes then become U+FFFD. If no known encoding is named, the body is read as UTF-8.
    ///
    /// The text is `nil` if no encoding is named and the bytes are not UTF-8, or if the system has no table for the
    /// encoding. Installations of glibc may lack most tables.
    public var text: String? {
        guard let encoding else { return String(validating: bytes, as: UTF8.self) }
        return encoding.text(bytes)
    }

    /// The encoding that the response declares; `nil` if it declares none.
    private var encoding: TextEncoding? { TextEncoding(of: bytes, typed: mediaType) }

    /// Whether the response declares an encoding other than UTF-8.
    package var isTranscoded: Bool { encoding.map { $0 != .utf8 } ?? false }

    /// The root of the body as JSON.
    ///
    /// If the body is not JSON or exceeds `JSONLimits.default`, every lookup in this value returns an absent value, and
    /// every `require` throws the parsing error. To apply other limits, create a `JSONDocument` from ``bytes``. A body
    /// that is not UTF-8 is decoded with the encoding that ``text`` uses.
    public var json: JSONValue {
        content.document.value {
            do throws(JSONError) {
                return try JSONDocument(bytes).root
            } catch {
                // JSON is encoded in UTF-8, and its media type defines no `charset` parameter (RFC 8259 §8.1, §11). If
                // the body is not valid UTF-8, the encoding that the response declares is tried.
                guard error.kind != .limitExceeded, isTranscoded, let text else { return JSONValue(invalid: error) }
                do throws(JSONError) { return try JSONDocument(text).root } catch { return JSONValue(invalid: error) }
            }
        }
    }

    /// Creates the JSON index early, so that the main actor need not create it. Does nothing if the body is not JSON.
    func index() {
        if looksLikeJSON { _ = json }
    }

    /// The size of the JSON index in bytes; 0 if the index has not been created.
    var indexByteCount: Int { content.document.indexByteCount }

    /// Whether the body is JSON by its media type or by its first byte. Many servers send JSON under another media
    /// type.
    private var looksLikeJSON: Bool {
        if mediaType?.isJSON == true { return true }
        let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// Whether the JSON index has been created.
    var isIndexed: Bool { content.document.isMade }

    /// Returns a member of the root if the body is a JSON object; otherwise an absent value.
    public subscript(key: String) -> JSONValue { json[key] }

    /// Returns an element of the root if the body is a JSON array; otherwise an absent value.
    public subscript(index: Int) -> JSONValue { json[index] }
}

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

/// The JSON index of a body, created at its first use.
private final class LazyDocument: Sendable {
    /// Guards the root. The lock is held while the index is created, so only one is created.
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

/// The source of a response. Later versions may add sources, so a switch needs a `default`.
public struct ResponseSource: Sendable, Hashable, CustomStringConvertible {
    private enum Code: String { case network, cache, staleCache }

    private let code: Code

    private init(_ code: Code) { self.code = code }

    /// A server sent the response for this call.
    public static let network = ResponseSource(.network)
    /// The response was stored for an earlier call and is fresh.
    public static let cache = ResponseSource(.cache)
    /// The response was stored for an earlier call and is stale.
    public static let staleCache = ResponseSource(.staleCache)

    /// The source in one word. It does not change between releases.
    public var name: String { code.rawValue }

    /// The source in one word, equal to ``name``.
    public var description: String { name }
}
