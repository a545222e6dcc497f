import HTTPTypes
import Hummingbird
import NIOCore
import RunwayFormats

/// Creates the responses of upload resources.
struct UploadResource: Sendable {
    let store: UploadStore
    /// The path of upload URLs, with a trailing slash.
    let path: String
    let origin: String

    /// Returns the identifier in an upload URL, or `nil` if the request has another URL.
    func id(of request: Request) -> Substring? {
        let target = (request.head.path ?? "").prefix { $0 != "?" }
        return target.hasPrefix(path) ? target.dropFirst(path.count) : nil
    }

    func location(of upload: StoredUpload) -> String { origin + path + upload.id }

    /// Adds the server's supported versions and limits to a response to `OPTIONS`, as the draft requires.
    func announced(in response: Response, _ fields: UploadFields) -> Response {
        var response = response
        if [404, 405, 501].contains(response.status.code) { response = Response(status: .noContent) }
        let former = response.headers[.acceptPatch]
        response.headers[.acceptPatch] = former.map { "\($0), \(UploadFields.partType)" } ?? UploadFields.partType
        response.headers[.uploadLimit] = store.limits.field(fields.version, age: .zero)
        return response
    }

    func refusal(_ problem: UploadProblem, _ fields: UploadFields) -> Response {
        var response = problem.response
        if case .mismatchingOffset(let expected, _) = problem {
            response.headers[.uploadOffset] = String(expected)
            response.headers.setComplete(false, fields.version)
        }
        if case .tooLarge = problem { response.headers[.uploadLimit] = store.limits.field(fields.version, age: .zero) }
        return marked(response, fields)
    }

    func state(of upload: StoredUpload, _ fields: UploadFields) -> Response {
        let status = upload.status(now: store.time)
        var headers: HTTPFields = [.cacheControl: "no-store", .uploadOffset: String(status.offset)]
        headers.setComplete(status.stage != .receiving, fields.version)
        if let length = status.length { headers[.uploadLength] = String(length) }
        headers[.uploadLimit] = store.limits.field(fields.version, age: status.age)
        return marked(Response(status: .noContent, headers: headers), fields)
    }

    /// Returns the response to content that was appended without completing the upload.
    func appended(to upload: StoredUpload, isCreation: Bool, _ fields: UploadFields) -> Response {
        var response = state(of: upload, fields)
        if isCreation {
            response.status = .created
            response.headers[.location] = location(of: upload)
        }
        return response
    }

    /// Returns the app's response if the upload is not complete after all: the app refused the request, and the client
    /// may complete the upload with another request.
    func unfinished(_ response: Response, byteCount: Int, _ fields: UploadFields) -> Response {
        var response = completed(response, byteCount: byteCount, fields)
        response.headers.setComplete(false, fields.version)
        return response
    }

    func completed(_ response: Response, byteCount: Int, _ fields: UploadFields) -> Response {
        var response = response
        response.headers.setComplete(true, fields.version)
        response.headers[.uploadOffset] = String(byteCount)
        return marked(response, fields)
    }

    private func marked(_ response: Response, _ fields: UploadFields) -> Response {
        guard let version = fields.version else { return response }
        var response = response
        response.headers[.uploadDraftInteropVersion] = String(version.rawValue)
        return response
    }
}
