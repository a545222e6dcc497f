import HTTPTypes
public import Hummingbird
import Synchronization

/// A router that also takes merged requests: `POST <base>/_batch` with several requests, each of which runs through
/// this same router.
///
/// ```swift
/// let router = Router(context: BasicRequestContext.self)
/// router.add(middleware: Authentication())
/// router.get("v1/rental/list") { request, context in try await rentals(for: request) }
/// let app = Application(router: MergingRouter(router, base: "/v1"))
/// ```
///
/// A request out of an envelope meets the same middleware and the same routes as one from the wire. What the router's
/// middleware found out about the envelope is lent to its requests through their contexts, which are made from the
/// envelope's, and to nothing else. What the envelope may hold is bounded by ``MergingLimits``; an envelope in an
/// envelope, a path that is not below the base, and header fields that belong to a connection or to the host are
/// refused, each with 400 for that request alone. An envelope that can't be read is refused with 400, one that is too
/// large with 413, one that is not `application/json` with 415.
public struct MergingRouter<Context: RequestContext>: HTTPResponderBuilder {
    private let router: Router<Context>
    private let items: ItemResponder<Context>

    /// Adds the route to a router. Middleware that was added to the router before sees envelopes, too.
    ///
    /// - Parameters:
    ///   - router: The app's router.
    ///   - base: The path below which requests may be merged, and below which the route is. The default is the root.
    ///   - path: The path of the route below the base. The default is `_batch`.
    ///   - limits: What an envelope may hold and take.
    ///   - clock: What time is measured on. The default is the continuous clock.
    ///   - itemContext: Makes the context in which a request is run, from a copy of the envelope's context in which the
    ///     router's own part is fresh. The default is that copy: all that middleware found out about the envelope, its
    ///     verified identity for one, is lent. It is the place to mark a context as that of a merged request, for
    ///     middleware that must know. An error that it throws is the response to that request alone: an `HTTPError` with
    ///     its status, any other as 500.
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
        // Weak, or the router's responder would hold this route and this route that responder for ever.
        router.post(RouterPath(route)) { [weak items] request, context in
            guard let responder = items?.responder else { throw HTTPError(.serviceUnavailable) }
            return await runner.answer(request, context, with: responder)
        }
    }

    /// Builds what answers requests; called once by the application.
    public func buildResponder() -> MergingResponder<Context> {
        let responder = router.buildResponder()
        items.set(responder)
        return MergingResponder(base: responder, items: items)
    }
}

/// Answers requests as its router does, merged ones among them.
public struct MergingResponder<Context: RequestContext>: HTTPResponder {
    let base: RouterResponder<Context>
    /// Held here and nowhere else, since the route knows it only weakly.
    let items: ItemResponder<Context>

    /// Answers a request.
    public func respond(to request: Request, context: Context) async throws -> Response {
        try await base.respond(to: request, context: context)
    }
}

/// What answers the requests of envelopes; known only after the routes are.
final class ItemResponder<Context: RequestContext>: Sendable {
    /// Guards the responder.
    private let state = Mutex<RouterResponder<Context>?>(nil)

    var responder: RouterResponder<Context>? { state.withLock { $0 } }

    func set(_ responder: RouterResponder<Context>) { state.withLock { $0 = responder } }
}
