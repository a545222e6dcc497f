package import Foundation
import Runway

/// The response to a request for a file of a bundle, which a shell passes to its browser. Pure, apart from the reading
/// of the file.
package struct BundleResponse: Sendable, Equatable {
    /// The status (RFC 9110 §15).
    package let status: Int
    /// The header fields.
    package let headerFields: [String: String]
    /// The body; empty for HEAD.
    package let body: Data

    /// Pages have no inline scripts, load nothing of other origins, and are shown in no frame.
    private static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "font-src 'self'",
        "media-src 'self' blob:", "connect-src 'self'", "base-uri 'none'", "form-action 'none'",
        "frame-ancestors 'none'",
    ].joined(separator: "; ")

    private static let mediaTypes = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "mjs": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "json": "application/json",
        "txt": "text/plain; charset=utf-8", "svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg",
        "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp", "avif": "image/avif", "ico": "image/x-icon",
        "woff2": "font/woff2", "wasm": "application/wasm", "mp4": "video/mp4", "mp3": "audio/mpeg",
    ]

    /// Responds to a request.
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - path: The path of the address with its escapes, without the query.
    ///   - range: The header field `Range`.
    ///   - files: The files of the bundle; `nil` if there is no such bundle.
    init(to method: String, path: String, range: String?, of files: BundleFiles?) {
        guard method == "GET" || method == "HEAD" else {
            self.init(405, ["Allow": "GET, HEAD"], Data("The file can only be read.".utf8))
            return
        }
        let strict = StrictPath(path.hasSuffix("/") ? path + "index.html" : path)
        guard let files, let segments = strict?.segments, !segments.contains(where: { $0.hasPrefix(".") }),
            let data = try? files.read(segments.joined(separator: "/"))
        else {
            // Browsers replace an error without a body by a page of their own.
            self.init(404, [:], Data("There is no such file.".utf8))
            return
        }
        let name = segments.last ?? ""
        let ending = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
        var fields = [
            "Content-Type": Self.mediaTypes[ending] ?? "application/octet-stream", "Accept-Ranges": "bytes",
        ]
        // A malformed range is ignored (RFC 9110 §14.2).
        guard let range = range.flatMap({ ByteRange($0) }) else {
            self.init(200, fields, data, isHead: method == "HEAD")
            return
        }
        guard let bytes = range.bytes(of: data.count) else {
            self.init(416, ["Content-Range": "bytes */\(data.count)"])
            return
        }
        fields["Content-Range"] = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(data.count)"
        let part = data[(data.startIndex + bytes.lowerBound)..<(data.startIndex + bytes.upperBound)]
        self.init(206, fields, Data(part), isHead: method == "HEAD")
    }

    /// Responds with the bytes that a call has returned; `nil` if they are gone.
    ///
    /// The response is never shown as a page of its origin.
    package init(bytes: Data?) {
        let fields = ["Content-Type": "application/octet-stream", "Content-Security-Policy": "sandbox"]
        self.init(bytes == nil ? 404 : 200, fields, bytes ?? Data())
    }

    private init(_ status: Int, _ fields: [String: String], _ body: Data = Data(), isHead: Bool = false) {
        self.status = status
        self.body = isHead ? Data() : body
        headerFields = fields.merging([
            "Content-Type": "text/plain; charset=utf-8", "Content-Length": "\(body.count)",
            "Content-Security-Policy": Self.policy,
            "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
        ]) { own, _ in own }
    }
}

extension Bridge {
    /// Responds to a request for a file of a bundle.
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - address: The address, which begins with `runway-bundle://`.
    ///   - range: The header field `Range`; `nil` if the request has none.
    package func response(to method: String, of address: String, range: String?) -> BundleResponse {
        let rest = address.firstRange(of: "://").map { address[$0.upperBound...] } ?? ""
        let path = rest.drop { $0 != "/" }.prefix { $0 != "?" && $0 != "#" }
        let files = Origin(serialized: String(address.dropLast(rest.count) + rest.prefix { $0 != "/" }))
            .flatMap { bundles[$0] }
        return BundleResponse(to: method, path: path.isEmpty ? "/" : String(path), range: range, of: files)
    }
}
