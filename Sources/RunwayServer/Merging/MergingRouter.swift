import HTTPTypes
public import Hummingbird
import Synchronization

/// A router that also accepts merged requests: `POST <base>/_batch` with several requests, each of which runs through
/// this same router.
///
/// ```swift
/// let router = Router(context: BasicRequestContext.self)
/// router.add(middleware: Authentication())
/// router.get("v1/rental/list") { request, context in try await rentals(for: request) }
/// let app = Application(router: MergingRouter(router, base: "/v1"))
/// ```
///
/// A request in an envelope passes the same middleware and the same routes as a request that was sent by itself. Values
/// that the router's middleware stored for the envelope reach its requests only through their contexts, which are
/// created from the envelope's context.
///
/// ``MergingLimits`` limits the content of an envelope. An envelope that can't be read is refused with 400, one that is
/// too large with 413, one that is not `application/json` with 415. Within an envelope, these requests are refused,
/// each with its own 400: another envelope, a path that is not below the base, and header fields that belong to a
/// connection or to the host.
public struct MergingRouter<Context: RequestContext>: HTTPResponderBuilder {
    private let router: Router<Context>
    private let items: ItemResponder<Context>

    /// Adds the route to a router. Middleware that was added to the router before sees envelopes, too.
    ///
    /// - Parameters:
    ///   - router: The app's router.
    ///   - base: The path below which requests may be merged, and below which the route is. The default is the root.
    ///   - path: The path of the route below the base. The default is `_batch`.
    ///   - limits: The bounds of envelopes.
    ///   - clock: The clock of the time limits. The default is the continuous clock.
    ///   - itemContext: Creates the context in which a request runs, from a copy of the envelope's context with new
    ///     router state. By default it returns that copy, with all values that middleware stored in it, such as the
    ///     envelope's verified identity. It can mark the context as that of a merged request, for middleware that
    ///     depends on it. An error that it throws is the response to only that request: an `HTTPError` with its status,
    ///     any other as 500.
    public init(
        _ router: Router<Context>, base: String = "", path: String = "_batch", limits: MergingLimits = .standard,
        clock: any Clock<Duration> = ContinuousClock(),
        itemContext: @escaping @Sendable (_ envelope: Context, _ item: MergedItem) throws -> Context = { envelope, _ in
            envelope
        }
    ) {
        self.router = router
        let base = base.split(separator: "/").map { "/\($0)" }.joined()
        let route = base + path.split(separator: "/").map { "/\($0)" }.joined()
        let runner = EnvelopeRunner(
            rules: ItemRules(base: base, route: route, limits: limits), clock: clock, itemContext: itemContext)
        let items = ItemResponder<Context>()
        self.items = items
        // Weak, or the router's responder and this route would retain each other.
        router.post(RouterPath(route)) { [weak items] request, context in
            guard let responder = items?.responder else { throw HTTPError(.serviceUnavailable) }
            return await runner.respond(request, context, with: responder)
        }
    }

    /// Builds the responder; called once by the application.
    public func buildResponder() -> some HTTPResponder<Context> {
        let responder = router.buildResponder()
        items.set(responder)
        return MergingResponder(base: responder, items: items)
    }
}

/// Responds to requests like its router, and to merged ones.
struct MergingResponder<Context: RequestContext>: HTTPResponder {
    let base: RouterResponder<Context>
    /// The only strong reference, since the route holds it weakly.
    let items: ItemResponder<Context>

    func respond(to request: Request, context: Context) async throws -> Response {
        try await base.respond(to: request, context: context)
    }
}

/// Responds to the requests of envelopes; set after the routes are known.
final class ItemResponder<Context: RequestContext>: Sendable {
    /// Guards the responder.
    private let state = Mutex<RouterResponder<Context>?>(nil)

    var responder: RouterResponder<Context>? { state.withLock { $0 } }

    func set(_ responder: RouterResponder<Context>) { state.withLock { $0 = responder } }
}
