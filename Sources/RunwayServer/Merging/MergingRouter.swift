import HTTPTypes
public import Hummingbird
import Synchronization

/// A router that also accepts merged requests. `POST <base>/_batch` contains several requests, and each of them runs
/// through this router.
///
/// ```swift
/// let router = Router(context: BasicRequestContext.self)
/// router.add(middleware: Authentication())
/// router.get("v1/rental/list") { request, context in try await rentals(for: request) }
/// let app = Application(router: MergingRouter(router, base: "/v1"))
/// ```
///
/// A request in an envelope passes the same middleware and the same routes as a request that was sent by itself.
/// Middleware that handles the envelope can pass values to the merged requests only in the context, since their
/// contexts are created from the envelope's context.
///
/// ``MergingLimits`` limits the content of an envelope. An envelope is refused with 400 if it can't be read, with 413
/// if it is too large, and with 415 if it is not `application/json`.
///
/// Within an envelope, each of these requests is refused with a 400 of its own: another envelope, a request whose path
/// is not below the base, and a request with header fields that belong to a connection or to the host.
public struct MergingRouter<Context: RequestContext>: HTTPResponderBuilder {
    private let router: Router<Context>
    private let items: ItemResponder<Context>

    /// Adds the route for envelopes to a router. Middleware that was added to the router earlier also handles
    /// envelopes.
    ///
    /// - Parameters:
    ///   - router: The app's router.
    ///   - base: The path of the route, below which requests may be merged. The default is the root.
    ///   - path: The path of the route below the base. The default is `_batch`.
    ///   - limits: The limits of envelopes.
    ///   - clock: The clock of the time limits. The default is the continuous clock.
    ///   - itemContext: Creates the context in which a merged request runs, from a copy of the envelope's context with
    ///     new router state. The default returns the copy, with all values that middleware stored in it, such as the
    ///     envelope's verified identity. A custom closure can mark the context for middleware that treats merged
    ///     requests differently. If it throws, only this request fails: with the status of an `HTTPError`, or 500.
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
        // The reference is weak, since the router's responder and this route would otherwise retain each other.
        router.post(RouterPath(route)) { [weak items] request, context in
            guard let responder = items?.responder else { throw HTTPError(.serviceUnavailable) }
            return await runner.respond(request, context, with: responder)
        }
    }

    /// Creates the responder. The application calls it once.
    public func buildResponder() -> some HTTPResponder<Context> {
        let responder = router.buildResponder()
        items.set(responder)
        return MergingResponder(base: responder, items: items)
    }
}

/// Handles envelopes, and passes all other requests to the router.
struct MergingResponder<Context: RequestContext>: HTTPResponder {
    let base: RouterResponder<Context>
    /// The only strong reference to the responder of merged requests: the route holds a weak one.
    let items: ItemResponder<Context>

    func respond(to request: Request, context: Context) async throws -> Response {
        try await base.respond(to: request, context: context)
    }
}

/// Runs merged requests. Its responder is set when all routes are known.
final class ItemResponder<Context: RequestContext>: Sendable {
    /// Guards the responder.
    private let state = Mutex<RouterResponder<Context>?>(nil)

    var responder: RouterResponder<Context>? { state.withLock { $0 } }

    func set(_ responder: RouterResponder<Context>) { state.withLock { $0 = responder } }
}
