import HTTPTypes
import NIOHPACK
import NIOHTTP2
import Runway
import RunwayFormats

extension HPACKHeaders {
    /// Creates the HTTP/2 head of a request (RFC 9113 §8.3.1).
    ///
    /// - Parameters:
    ///   - head: The request.
    ///   - expectsContinue: Whether the body is sent only after status 100.
    ///   - name: The protocol of an extended CONNECT (RFC 8441 §4). The default, `nil`, is an ordinary request.
    init(_ head: WireRequestHead, expectsContinue: Bool, connectingTo name: String? = nil) {
        self.init()
        reserveCapacity(head.fields.count + 6)
        add(name: ":method", value: head.method.rawValue)
        if let name { add(name: ":protocol", value: name) }
        add(name: ":scheme", value: head.scheme)
        add(name: ":authority", value: head.authority)
        // Request targets differ between requests, so indexing them would only evict repeated fields from the HPACK
        // table.
        add(name: ":path", value: head.target, indexing: .nonIndexable)
        for case let field? in head.fields.lazy.map(\.asText) where !field.name.isConnectionSpecific {
            // TE must have no value other than `trailers` (RFC 9113 §8.2.2).
            if field.name == .te, field.value.lowercased() != "trailers" { continue }
            add(name: field.name.canonicalName, value: field.value, indexing: field.indexing)
        }
        if let contentLength = head.contentLength { add(name: "content-length", value: String(contentLength)) }
        if expectsContinue { add(name: "expect", value: "100-continue") }
    }

    /// The size of the list as counted for SETTINGS_MAX_HEADER_LIST_SIZE (RFC 9113 §6.5.2).
    var listSize: Int { reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 } }

    /// The status and the fields of a response's head (RFC 9113 §8.3.2), and the names of omitted fields. A field is
    /// omitted if its value is not text, since NIO represents values as text. `nil` if there is no status or a field is
    /// invalid.
    var response: (head: HTTPResponse, omittedFields: [HTTPField.Name])? {
        var status: HTTPResponse.Status?
        var decoded = DecodedFields(capacity: count)
        for (name, value, _) in self {
            if name.utf8.first == UInt8(ascii: ":") {
                guard name == ":status", status == nil, value.utf8.count == 3, let code = Int(value), code >= 100 else {
                    return nil
                }
                status = HTTPResponse.Status(code: code)
            } else {
                guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else { return nil }
                decoded.append(name, value)
            }
        }
        return status.map { (HTTPResponse(status: $0, headerFields: decoded.fields), decoded.lost) }
    }
}

extension HTTP2Frame.FramePayload.Headers {
    /// Returns the head of a final or interim response, and the names of omitted fields.
    ///
    /// - Throws: ``WireError`` if the head is invalid or has more than `maximumFieldCount` fields.
    func response(
        upTo maximumFieldCount: Int
    ) throws(WireError) -> (head: HTTPResponse, omittedFields: [HTTPField.Name]) {
        guard headers.count <= maximumFieldCount else {
            throw .malformed("it has more than \(maximumFieldCount) fields")
        }
        guard let response = headers.response else { throw .malformed("its head is invalid") }
        // HTTP/2 does not have status 101 (RFC 9113 §8.6).
        if response.head.status == .switchingProtocols { throw .switchedProtocols }
        // A stream must not end without a final response (RFC 9113 §8.1.1).
        if response.head.status.kind == .informational, endStream {
            throw .malformed("it ends with an interim response")
        }
        return response
    }
}

extension HTTPField {
    /// The HPACK indexing that the caller permits for the field (RFC 7541 §7.1).
    fileprivate var indexing: HPACKIndexing {
        switch (name, indexingStrategy) {
        case (_, .disallow): .neverIndexed
        case (_, .avoid): .nonIndexable
        default: .indexable
        }
    }
}
