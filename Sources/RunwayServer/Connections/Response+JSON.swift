import HTTPTypes
import Hummingbird
import NIOCore
import RunwayFormats
import RunwayJSON

extension Response {
    /// A response with JSON that no cache stores.
    init(json: [UInt8], status: HTTPResponse.Status = .ok) {
        self.init(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json)))
    }

    /// Creates a response that states a problem, and that no cache stores.
    ///
    /// - Parameters:
    ///   - problem: The problem that the response states.
    ///   - fields: Further header fields. The default is none.
    ///   - addMembers: Adds members to the problem. The default adds none.
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
