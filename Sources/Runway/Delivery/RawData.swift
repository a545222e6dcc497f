import Foundation
public import HTTPTypes
public import RunwayJSON
import Synchronization

/// An answer as it came: the bytes, the head they came with, and JSON read on demand.
///
/// ```swift
/// let title = raw["data"]["list"][3]["title"].string          // nil if any of it is missing
/// let price: Int = try raw["data"]["price"].require()         // throws, and says what was found where
/// ```
///
/// Nothing is parsed until it is asked for; the first look at the JSON indexes the document, once, no matter which task
/// looks.
public struct RawData: Sendable {
    /// The body, with transfer and content codings undone.
    public var bytes: [UInt8] { content.bytes }
    /// Status and header fields.
    public var response: HTTPResponse { content.response }
    /// Where the answer came from.
    public internal(set) var source: ResponseSource = .network

    /// In one object, since an answer is handed on many times, and a head alone has a dozen texts to count.
    private var content: Content

    /// Makes raw data from a body and the head that it came with.
    public init(_ bytes: [UInt8], response: HTTPResponse = HTTPResponse(status: .ok)) {
        content = Content(bytes: bytes, response: response, document: LazyDocument())
    }

    /// The same body with another head. What is indexed of it stays so, unless the other head names another charset.
    func with(response: HTTPResponse) -> RawData {
        guard response.headerFields[.contentType] == self.response.headerFields[.contentType] else {
            return RawData(bytes, response: response)
        }
        var copy = self
        copy.content = Content(bytes: bytes, response: response, document: content.document)
        return copy
    }

    /// The media type that the answer names; `nil` where it names none that can be read.
    public var mediaType: MediaType? { response.headerFields[.contentType].flatMap { MediaType($0) } }

    /// The body as text, in the charset that the answer names, or UTF-8 where it names none.
    ///
    /// `nil` where the charset is unknown or the bytes are not text in it.
    public var text: String? { Charset.text(bytes, in: mediaType?.charset) }

    /// The root of the body as JSON.
    ///
    /// Where the body is not JSON, or beyond `JSONLimits.default`, every lookup in this value is missing, and every `require`
    /// throws what is wrong with the body and where. For other limits make a `JSONDocument` of ``bytes``. A body that is
    /// no JSON in UTF-8 is read by the charset that the answer names.
    public var json: JSONValue {
        content.document.value { [bytes] in
            do throws(JSONError) {
                return try JSONDocument(bytes).root
            } catch {
                // JSON is UTF-8 whatever a charset says (RFC 8259 §8.1, §11); what is not may yet be what it says.
                if let charset = mediaType?.charset, charset != "utf-8", let text,
                    let document = try? JSONDocument(text)
                {
                    return document.root
                }
                return JSONValue(invalid: error)
            }
        }
    }

    /// Indexes the JSON before somebody asks for it, so that the main actor need not; does nothing for other bodies.
    func index() {
        if looksLikeJSON { _ = json }
    }

    /// How many bytes the index of the JSON takes; 0 where it has not been made.
    var indexByteCount: Int { content.document.indexByteCount }

    /// Whether the body is JSON by its media type or, since many servers name another, by how it begins.
    private var looksLikeJSON: Bool {
        if mediaType?.isJSON == true { return true }
        let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// Whether somebody has looked at the JSON.
    var isIndexed: Bool { content.document.isMade }

    /// A member of the root, where the body is a JSON object.
    public subscript(key: String) -> JSONValue { json[key] }

    /// An element of the root, where the body is a JSON array.
    public subscript(index: Int) -> JSONValue { json[index] }
}

/// What all copies of an answer share.
private final class Content: Sendable {
    let bytes: [UInt8]
    let response: HTTPResponse
    let document: LazyDocument

    init(bytes: [UInt8], response: HTTPResponse, document: LazyDocument) {
        self.bytes = bytes
        self.response = response
        self.document = document
    }
}

/// The index of a body, made when it is first asked for.
private final class LazyDocument: Sendable {
    /// Guards the root; it is held while the index is made, so that it is made once.
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
