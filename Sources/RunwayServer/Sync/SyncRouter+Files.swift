import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import RunwayFormats
import RunwaySyncCore

extension SyncRouter {
    /// Responds to a request for a file; the format is in `docs/formats.md`.
    func respond(
        _ request: Request, _ context: Context, with files: SyncFiles
    ) async throws -> Response {
        guard let space = Identifier(try context.parameters.require("space")),
            let file = SyncFile(space, digest: try context.parameters.require("digest"))
        else { throw HTTPError(.notFound) }
        let subject = try await authenticate(request, context)
        guard service.rights(subject, file.space, .read) else { return .refusal(.forbidden, "space-revoked") }
        let byteCount = request.headers[.contentLength].flatMap { Int64($0) }
        if request.method == .put {
            // Without the size the app's function could apply no quota.
            guard let byteCount, byteCount >= 0 else { throw HTTPError(.lengthRequired) }
            guard byteCount <= files.maximumByteCount else { return .refusal(.contentTooLarge, "tooLarge") }
            let isAllowed = service.rights(subject, file.space, .upload(byteCount: byteCount))
            if !isAllowed { return .refusal(.forbidden, "forbidden") }
        }
        switch files.place {
        case .objectStore(let location):
            guard let url = try await location(file, request.method) else { throw HTTPError(.notFound) }
            return Response(status: .temporaryRedirect, headers: [.location: url, .cacheControl: "no-store"])
        case .folder(let folder):
            do {
                if let (stored, byteCount) = try await folder.open(file) {
                    if request.method == .put { return Response(status: .noContent) }
                    return response(to: request, file, stored, byteCount)
                }
                guard request.method == .put else { throw HTTPError(.notFound) }
                // The subject may lose its rights while the body arrives.
                try await folder.store(file, request.body, upTo: files.maximumByteCount) { [service] in
                    service.rights(subject, file.space, .read)
                        && service.rights(subject, file.space, .upload(byteCount: byteCount ?? 0))
                }
                await service.pokes?.publish(file.digest, of: space)
                return Response(status: .created)
            } catch let refusal as SyncFileFolder.Refusal {
                return switch refusal {
                case .tooLarge: .refusal(.contentTooLarge, "tooLarge")
                case .otherBytes: .refusal(.unprocessableContent, "invalid")
                case .forbidden: .refusal(.forbidden, "forbidden")
                case .noSpace: .refusal(.init(code: 507, reasonPhrase: "Insufficient Storage"), "full")
                }
            }
        }
    }

    private func response(to request: Request, _ file: SyncFile, _ stored: UploadFile, _ byteCount: Int) -> Response {
        let tag = "\"\(file.digest)\""
        var headers: HTTPFields = [
            .contentType: "application/octet-stream", .cacheControl: "no-store", .acceptRanges: "bytes", .eTag: tag,
            .xContentTypeOptions: "nosniff",
        ]
        let digest = Data(hexadecimal: file.digest).base64EncodedString()
        headers[HTTPField.Name("Repr-Digest", known: ())] = "sha-256=:\(digest):"
        var (range, status) = (0..<byteCount, HTTPResponse.Status.ok)
        // A file never changes, so that another validator belongs to another file (RFC 9110 §13.1.5).
        if let start = request.rangeStart, request.headers[.ifRange].map({ $0 == tag }) ?? true {
            guard start < byteCount else {
                headers[.contentRange] = "bytes */\(byteCount)"
                return Response(status: .rangeNotSatisfiable, headers: headers)
            }
            (range, status) = (start..<byteCount, .partialContent)
            headers[.contentRange] = "bytes \(start)-\(byteCount - 1)/\(byteCount)"
        }
        let body = ResponseBody(contentLength: range.count) { [range] writer in
            var offset = range.lowerBound
            while offset < range.upperBound {
                let start = offset
                let part = try await NIOThreadPool.singleton.runIfActive {
                    try stored.read(min(256 << 10, range.upperBound - start), at: start)
                }
                if part.isEmpty { throw UploadFile.Failure(operation: "the file is shorter than before", code: 0) }
                offset += part.count
                try await writer.write(ByteBuffer(bytes: part))
            }
            try await writer.finish(nil)
        }
        let response = Response(status: status, headers: headers, body: body)
        return request.method == .head ? response.createHeadResponse() : response
    }
}

extension Request {
    /// The start of a range up to the end of the file, the only form that devices send; `nil` for other forms, which a
    /// server may ignore (RFC 9110 §14.2).
    fileprivate var rangeStart: Int? {
        guard method == .get, let value = headers[.range], value.hasPrefix("bytes="), value.hasSuffix("-") else {
            return nil
        }
        let digits = value.dropFirst(6).dropLast()
        return digits.allSatisfy { $0.isASCII && $0.isNumber } ? Int(digits) : nil
    }
}

extension Response {
    fileprivate static func refusal(_ status: HTTPResponse.Status, _ word: String) -> Response {
        Response(json: Array(#"{"error":"\#(word)"}"#.utf8), status: status)
    }
}

extension Data {
    /// Reads pairs of hexadecimal digits.
    fileprivate init(hexadecimal text: String) {
        let digits = text.utf8.map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x57 }
        self.init(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }
}
