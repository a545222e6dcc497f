import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import RunwayJSON
import RunwayServer

/// A context that knows who asks, as an app's does that checks it once for every request.
struct AppContext: RequestContext {
    struct Source: RequestContextSource {
        var logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    }

    var coreContext: CoreRequestContextStorage
    var identity: String?
    var item: Int?

    init(source: Source) { coreContext = CoreRequestContextStorage(source: source) }
}

/// Merged requests to an app in the process.
struct MergingApp {
    let responder: any HTTPResponder<AppContext>

    init(
        base: String = "/v1", limits: MergingLimits = .standard, clock: any Clock<Duration> = ContinuousClock(),
        _ addRoutes: (Router<AppContext>) -> Void = { _ in }
    ) {
        let router = Self.router(addRoutes)
        responder = MergingRouter(router, base: base, limits: limits, clock: clock).buildResponder()
    }

    init(
        lending itemContext: @escaping @Sendable (AppContext, MergedItem) throws -> AppContext,
        _ addRoutes: (Router<AppContext>) -> Void
    ) {
        responder = MergingRouter(Self.router(addRoutes), base: "/v1", itemContext: itemContext).buildResponder()
    }

    private static func router(_ addRoutes: (Router<AppContext>) -> Void) -> Router<AppContext> {
        let router = Router(context: AppContext.self)
        router.get("v1/echo/{name}") { request, context in
            "\(request.uri.string) \(context.parameters.get("name") ?? "") \(context.endpointPath ?? "")"
        }
        router.post("v1/echo") { request, _ in
            var buffer = try await request.body.collect(upTo: 1 << 20)
            return Response(
                status: .created, headers: [.contentType: request.headers[.contentType] ?? "none"],
                body: ResponseBody(byteBuffer: buffer.readSlice(length: buffer.readableBytes) ?? ByteBuffer()))
        }
        addRoutes(router)
        return router
    }

    /// Returns the response to an envelope, or to another body.
    func post(
        _ text: String, to path: String = "/v1/_batch", contentType: String? = "application/json",
        headers: HTTPFields = [:]
    ) async throws -> (status: HTTPResponse.Status, json: JSONValue) {
        var headers = headers
        headers[.contentType] = contentType
        let head = HTTPRequest(
            method: .post, scheme: "https", authority: "app.test", path: path, headerFields: headers)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: text)))
        let response = try await responder.respond(to: request, context: AppContext(source: AppContext.Source()))
        let body = Collected()
        try await response.body.write(body.writer)
        return (response.status, try JSONDocument(body.bytes.isEmpty ? Array("null".utf8) : body.bytes).root)
    }

    /// Returns the responses to requests, by their ids.
    func responses(to items: String..., headers: HTTPFields = [:]) async throws -> [String: JSONValue] {
        let (status, json) = try await post(#"{"requests":[\#(items.joined(separator: ","))]}"#, headers: headers)
        guard status == .ok else { throw HTTPError(status) }
        return Dictionary(
            json["responses"].elements.map { ($0["id"].string ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }
}

extension String {
    /// A GET of this path as an item.
    func item(_ id: String, headers: String = "[]") -> String {
        #"{"id":"\#(id)","method":"GET","path":"\#(self)","headers":\#(headers)}"#
    }
}
