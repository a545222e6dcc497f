import HTTPTypes
public import Hummingbird
import NIOCore
import RunwayFormats
import RunwayJSON

/// Refuses requests to other hosts than the server's, and requests from web pages that may not use it, before they
/// reach a router.
///
/// Wrap it around the routers of this module, too. Middleware of the app's router would not see their routes:
///
/// ```swift
/// let app = Application(router: GuardedRouter(MergingRouter(router), HostRules(["api.example.com"])))
/// ```
///
/// A refusal is a problem (`application/problem+json`, RFC 9457). Its status is 400 if a request does not name exactly
/// one host, 403 for another host or origin, and 415 for content of another type.
public struct GuardedRouter<Base: HTTPResponderBuilder>: HTTPResponderBuilder
where Base.Responder.Context: RequestContext {
    private let base: Base
    private let rules: HostRules

    /// Creates a guard in front of a router.
    ///
    /// - Parameters:
    ///   - base: The app's router.
    ///   - rules: The accepted hosts and web pages.
    public init(_ base: Base, _ rules: HostRules) {
        self.base = base
        self.rules = rules
    }

    /// Creates the responder. The application calls it once.
    public func buildResponder() -> some HTTPResponder<Base.Responder.Context> {
        GuardedResponder(base: base.buildResponder(), rules: rules)
    }
}

/// Passes requests that the rules accept to the router.
struct GuardedResponder<Base: HTTPResponder>: HTTPResponder where Base.Context: RequestContext {
    let base: Base
    let rules: HostRules

    func respond(to request: Request, context: Base.Context) async throws -> Response {
        if let refusal = rules.refusal(of: request.head) { return refusal.response }
        guard let origin = request.headers[.origin] else {
            return try await base.respond(to: request, context: context)
        }
        var response: Response
        if request.method == .options, let method = request.headers[.accessControlRequestMethod] {
            // This is a CORS preflight (Fetch §4.8). The page may send any request that the rules accept.
            response = Response(status: .noContent, headers: [.accessControlAllowMethods: method])
            response.headers[.accessControlAllowHeaders] = request.headers[.accessControlRequestHeaders]
        } else {
            do {
                response = try await base.respond(to: request, context: context)
            } catch let error as any HTTPResponseError {
                response = try error.response(from: request, context: context)
            }
        }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers.append(HTTPField(name: .vary, value: "Origin"))
        return response
    }
}

enum HostRefusal: Equatable {
    case malformed, host, origin, mediaType

    private var status: HTTPResponse.Status {
        switch self {
        case .malformed: .badRequest
        case .host, .origin: .forbidden
        case .mediaType: .unsupportedMediaType
        }
    }

    private var title: String {
        switch self {
        case .malformed: "the request does not name one host"
        case .host: "the request names a host that is not this server's"
        case .origin: "the request comes from a web page that is not allowed"
        case .mediaType: "the content is of a type that is not accepted here"
        }
    }

    var response: Response { Response(Problem(title, status)) }
}
