import HTTPTypes
public import Hummingbird
public import NIOCore
import NIOHTTPTypes
import RunwayFormats

/// A request context with the channel for interim responses: the connection of the request, or its stream over HTTP/2.
///
/// ```swift
/// struct AppContext: InterimResponseContext {
///     var coreContext: CoreRequestContextStorage
///     let channel: any Channel
///
///     init(source: ApplicationRequestContextSource) {
///         coreContext = CoreRequestContextStorage(source: source)
///         channel = source.channel
///     }
/// }
/// ```
///
/// ``BasicSignedRequestContext`` is a ready-made context, also for apps whose requests are not signed.
public protocol InterimResponseContext: RequestContext {
    /// The connection or stream that carries the request.
    var channel: any Channel { get }
}

extension HTTPResponse {
    /// The interim response with status 104 (draft-ietf-httpbis-resumable-upload, "Status Code 104").
    static func resumptionSupported(_ version: UploadVersion) -> HTTPResponse {
        HTTPResponse(
            status: Status(code: 104, reasonPhrase: "Upload Resumption Supported"),
            headerFields: [.uploadDraftInteropVersion: "\(version.rawValue)"])
    }
}

extension Channel {
    /// Sends an interim response, before everything that is written later.
    func sendInterim(_ head: HTTPResponse) { writeAndFlush(HTTPResponsePart.head(head), promise: nil) }
}
