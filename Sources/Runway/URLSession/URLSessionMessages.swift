import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Request {
    /// Returns the request in Foundation's form, without a streamed body.
    ///
    /// - Throws: `URLError` if the URL can't be used; ``BodyNotAllowed`` if the method does not allow a body.
    func urlRequest() throws -> URLRequest {
        guard let url = URL(string: escapedURL), url.host != nil else { throw URLError(.badURL) }
        if case .none = body {
        } else if head.method == .get || head.method == .trace {
            throw BodyNotAllowed(method: head.method)
        }
        var request = URLRequest(url: url)
        request.httpMethod = head.method.rawValue
        for case let field? in head.headerFields.lazy.map(\.asText)
        where field.name != .contentLength && field.name != .transferEncoding {
            request.addValue(field.value, forHTTPHeaderField: field.name.rawName)
        }
        // A request for a range must not accept any coding: a range counts bytes of the coded body, and a part of it
        // can't be decoded. Without this field the session would add the codings that it can decode.
        if head.headerFields[.acceptEncoding] == nil, head.method == .head || head.headerFields[.range] != nil {
            request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        }
        if head.headerFields[.userAgent] == nil { request.setValue("runway", forHTTPHeaderField: "User-Agent") }
        if head.headerFields[.contentType] == nil, body.byteCount != 0 {
            // By default the session would set the media type of a form.
            request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        }
        switch body {
        case .none: break
        case .bytes(let bytes): request.httpBody = Data(bytes)
        case .stream:
            #if canImport(Darwin)
                if let byteCount = body.byteCount {
                    request.setValue("\(byteCount)", forHTTPHeaderField: "Content-Length")
                }
            #endif
        }
        return request
    }
}

/// Thrown if a request has a body although its method does not allow one.
struct BodyNotAllowed: Error {
    let method: HTTPRequest.Method
}

extension HTTPResponse {
    /// Returns the head of a response, and whether the session decoded the body. If it did, the fields that describe
    /// the coded body are removed.
    ///
    /// - Parameter decodesZstd: Whether the session decodes zstd. The default depends on the system.
    static func reading(
        _ response: HTTPURLResponse, decodesZstd: Bool = sessionDecodesZstd
    ) -> (head: HTTPResponse, omittedFields: [HTTPField.Name], isDecoded: Bool) {
        let isDecoded = isDecoded(response.value(forHTTPHeaderField: "Content-Encoding"), decodesZstd: decodesZstd)
        let fields = response.allHeaderFields.map { ("\($0.key)", "\($0.value)") }
        var decoded = DecodedFields(capacity: fields.count)
        for (name, value) in fields.sorted(by: { $0.0 < $1.0 }) {
            guard let name = HTTPField.Name(name) else { continue }
            if isDecoded, name == .contentEncoding || name == .contentLength { continue }
            for value in name == .setCookie ? cookies(in: value) : [value] {
                decoded.append(name, value)
            }
        }
        let head = HTTPResponse(status: .init(code: response.statusCode), headerFields: decoded.fields)
        return (head, decoded.lost, isDecoded)
    }

    /// Whether the system's sessions decode zstd.
    private static var sessionDecodesZstd: Bool {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { true } else { false }
    }

    private static func isDecoded(_ coding: String?, decodesZstd: Bool) -> Bool {
        guard let coding else { return false }
        #if canImport(Darwin)
            let known = ["gzip", "x-gzip", "deflate", "br"] + (decodesZstd ? ["zstd"] : [])
            return coding.split(separator: ",").allSatisfy {
                known.contains($0.trimmingCharacters(in: .whitespaces).lowercased())
            }
        #else
            // libcurl reports an error for a response that it can't decode.
            return coding.trimmingCharacters(in: .whitespaces).lowercased() != "identity"
        #endif
    }

    /// Splits the values of several `Set-Cookie` fields that were joined by commas. Dates contain commas, too.
    static func cookies(in joined: String) -> [String] {
        var cookies: [String] = []
        for piece in joined.split(separator: ",", omittingEmptySubsequences: false) {
            let text = piece.drop { $0 == " " }
            let name = text.prefix { $0 != "=" && $0 != ";" }
            let isStart = name.endIndex < text.endIndex && text[name.endIndex] == "=" && !name.contains(" ")
            if isStart || cookies.isEmpty {
                cookies.append(String(text))
            } else {
                cookies[cookies.count - 1] += ",\(piece)"
            }
        }
        return cookies
    }
}
