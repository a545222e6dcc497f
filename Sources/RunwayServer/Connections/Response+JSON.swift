import HTTPTypes
import Hummingbird
import NIOCore
import RunwayFormats
import RunwayJSON

extension Response {
    /// Creates a response with JSON and `Cache-Control: no-store`.
    init(json: [UInt8], status: HTTPResponse.Status = .ok) {
        self.init(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json)))
    }

    /// Creates a problem response with `Cache-Control: no-store`.
    ///
    /// - Parameters:
    ///   - problem: The problem that the response describes.
    ///   - fields: Additional header fields. The default is empty.
    ///   - addMembers: Adds members to the problem. The default adds no members.
    init(
        _ problem: Problem, _ fields: HTTPFields = [:], addMembers: (inout JSONWriter) -> Void = { _ in }
    ) {
        var fields = fields
        (fields[.contentType], fields[.cacheControl]) = (Problem.mediaType, "no-store")
        self.init(
            status: problem.status, headers: fields,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: problem.json(addMembers))))
    }
}
