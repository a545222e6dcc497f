import HTTPTypes

/// A form with files as the body of a request (RFC 7578).
///
/// An endpoint with ``ParameterEncoding/multipart(_:)`` builds it from its parameters and ``Endpoint/parts``.
///
/// Parts are sent one after the other, and files are read while they are sent; the form is never assembled in memory.
/// The length is known if the length of every part is known. The form can be sent again if every part can.
package struct MultipartForm: Sendable {
    /// The parts in the order in which they are sent.
    package let parts: [FormPart]
    package let boundary: String

    /// - Parameters:
    ///   - parts: The parts in the order in which they are sent.
    ///   - random: The 128 random bits of the boundary. They ensure that no content contains the boundary.
    package init(_ parts: [FormPart], _ random: (UInt64, UInt64)) {
        self.parts = parts
        func digits(_ number: UInt64) -> String {
            let text = String(number, radix: 16)
            return String(repeating: "0", count: 16 - text.utf8.count) + text
        }
        boundary = "runway-" + digits(random.0) + digits(random.1)
    }

    /// The value of the `Content-Type` field, including the boundary.
    package var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    package var body: RequestBody {
        var pieces: [RequestBody] = []
        for part in parts {
            pieces.append(.bytes(Array("--\(boundary)\r\n\(part.head)\r\n".utf8)))
            pieces.append(part.body)
            pieces.append(.bytes([13, 10]))
        }
        pieces.append(.bytes(Array("--\(boundary)--\r\n".utf8)))
        return RequestBody(joining: pieces)
    }

    /// The reason why the form can't be sent; `nil` if it can.
    var problem: String? {
        for part in parts {
            if let type = part.contentType, type.isEmpty || !HTTPField.isValidValue(type) {
                return "The media type of the part \"\(part.name)\" has a character that is not allowed in it."
            }
        }
        return nil
    }
}

extension Request {
    /// Sets a form with files (`multipart/form-data`, RFC 7578) as the body, and sets `Content-Type`, including the
    /// boundary.
    ///
    /// Use it with ``NetworkLayer/exchange(_:with:options:)``. An endpoint with ``ParameterEncoding/multipart(_:)``
    /// does not need it: its form is built from its parameters and ``Endpoint/parts``.
    ///
    /// - Parameter parts: The parts in the order in which they are sent. Files are read while they are sent.
    /// - Throws: ``NetworkError/Kind/invalidParameters`` if the media type of a part contains a character that is not
    ///   allowed there.
    public mutating func setForm(_ parts: [FormPart]) throws(NetworkError) {
        var randomness = SystemRandomNumberGenerator()
        let form = MultipartForm(parts, (randomness.next(), randomness.next()))
        if let problem = form.problem {
            throw NetworkError(.invalidParameters, in: .assembling, problem, sending: .notSent)
        }
        body = form.body
        head.headerFields[.contentType] = form.contentType
    }
}

struct UnsendableForm: DescribedError {
    let problem: String
    var description: String { problem }
}

extension FormPart {
    /// The header fields of the part, without the empty line after them.
    fileprivate var head: String {
        var head = "Content-Disposition: form-data; name=\"\(name.quotedForForm)\""
        if let fileName { head += "; filename=\"\(fileName.quotedForForm)\"" }
        head += "\r\n"
        if let contentType { head += "Content-Type: \(contentType)\r\n" }
        return head
    }
}

extension String {
    /// The text for use within quotation marks. It is UTF-8. Characters that would end the text are escaped as browsers
    /// escape them (RFC 7578 §4.2 and §5.1; HTML, "multipart/form-data encoding algorithm").
    fileprivate var quotedForForm: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": text += "%22"
            case "\r": text += "%0D"
            case "\n": text += "%0A"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

extension RequestBody {
    init(joining bodies: [RequestBody]) {
        var byteCount: Int? = 0
        for body in bodies { byteCount = byteCount.flatMap { sum in body.byteCount.map { sum + $0 } } }
        let stream = BodyStream {
            var rest = bodies[...]
            var current: (parts: BodyStream.AsyncIterator, remaining: Int?)?
            return {
                while true {
                    if var (parts, remaining) = current {
                        let part = try await parts.next()
                        remaining = remaining.map { $0 - (part?.count ?? 0) }
                        // If a body had another length than announced, the server would take bytes of the next request
                        // for bytes of this request.
                        if let remaining, remaining < 0 || (part == nil && remaining > 0) { throw BodyLengthMismatch() }
                        current = part == nil ? nil : (parts, remaining)
                        if let part { return part }
                    }
                    guard let next = rest.popFirst() else { return nil }
                    switch next {
                    case .none: continue
                    case .bytes(let bytes): current = (BodyStream(bytes).makeAsyncIterator(), bytes.count)
                    case .stream(let stream, let byteCount, _): current = (stream.makeAsyncIterator(), byteCount)
                    }
                }
            }
        }
        self = .stream(stream, byteCount: byteCount, isReplayable: bodies.allSatisfy(\.isReplayable))
    }
}

/// The error of a body with a part that is longer or shorter than announced.
struct BodyLengthMismatch: DescribedError {
    var description: String { "the length of a part differs from its announced length" }
}
