#if Command
    import HTTPTypes
    import Hummingbird
    import NIOCore
    import Runway
    import RunwayServer

    extension ListingsBackend {
        /// Returns a router with all routes, in the order of the table at ``ListingsBackend``.
        func router() -> MergingRouter<ListingsRequestContext> {
            typealias Context = ListingsRequestContext
            let router = Router(context: Context.self)
            router.add(middleware: CountingMiddleware(backend: self))

            /// Adds a route that applies the request's delay, and returns failures in the format of a team.
            func get(
                _ path: RouterPath, as team: Listing.Kind, delayedByDefault milliseconds: Int = 0,
                _ respond: @escaping @Sendable (QueryParameters, Request, Context) throws -> Response
            ) {
                router.get(path) { [clock] request, context in
                    try await team.responding {
                        let query = QueryParameters(of: request.uri)
                        try await context.delay(query.delay(default: milliseconds), on: clock)
                        return try respond(query, request, context)
                    }
                }
            }
            for team in Listing.Kind.allCases {
                get("\(team.rawValue)/list", as: team) { [self] query, _, _ in try team.list(query, of: catalogue) }
                get("\(team.rawValue)/detail/{id}", as: team) { [self] _, _, context in
                    try team.detail(id: context.parameters.require("id"), of: catalogue)
                }
            }
            get("slow/list", as: .secondHand, delayedByDefault: 1000) { [self] query, _, _ in
                try Listing.Kind.secondHand.list(query, of: catalogue)
            }
            let members = MemberAPI(tokens: tokens)
            router.post("member/login") { request, _ in try await members.logIn(request) }
            router.post("member/token") { request, _ in try await members.renew(request) }
            // The token is checked after the delay, so that it can expire while the call is in flight.
            get("member/favourites", as: .rental) { [self] query, request, _ in
                try members.favourites(query, of: catalogue, authorization: request.headers[.authorization])
            }
            let failures = ReceivedCount()
            router.get("failing/list") { request, _ in
                try Self.failure(QueryParameters(of: request.uri), failures)
            }
            router.get("failing/truncated") { _, _ in Self.truncated }
            router.get("failing/envelope") { request, _ in try Self.envelope(QueryParameters(of: request.uri)) }
            return MergingRouter(router) { envelope, _ in
                var context = envelope
                context.isMerged = true
                return context
            }
        }

        /// Returns the status of the parameter `status`, from 400 to 599. Without the parameter, 500 and 503 alternate,
        /// starting with 500.
        private static func failure(_ query: QueryParameters, _ failures: ReceivedCount) throws -> Response {
            let code = try query.integer("status", in: 400...599) ?? (failures.add(1) % 2 == 1 ? 500 : 503)
            return try .json(
                ["error": "this API fails on purpose with \(code)"], status: HTTPResponse.Status(code: code))
        }

        /// A complete HTTP response whose JSON, a list of second-hand homes, is truncated.
        private static var truncated: Response {
            .json(
                bytes: ByteBuffer(
                    string: """
                        {"status":"ok","data":{"list":[\
                        {"esf_id":"E100001","esf_title":"翠湖花园 3室","esf_total_price":523.4},\
                        {"esf_id":"E100002","esf_title":"云山
                        """))
        }

        /// Returns an error in the format of a team. `error` is a ``BackendFailure/name``, by default `token_expired`.
        /// `team` is `esf`, `zf` or `xinfang`, by default `zf`.
        private static func envelope(_ query: QueryParameters) throws -> Response {
            func choice<Value>(_ name: String, default value: String, among values: [(String, Value)]) throws -> Value {
                let found = query.string(name) ?? value
                if let chosen = values.first(where: { $0.0 == found }) { return chosen.1 }
                throw BackendFailure.badParameter(
                    name: name, found: found, expected: values.map(\.0).joined(separator: ", "))
            }
            let teams = Listing.Kind.allCases.map { ($0.rawValue, $0) }.sorted { $0.0 < $1.0 }
            let team = try choice("team", default: "zf", among: teams)
            let failures: [BackendFailure] = [.unknownPlace("atlantis"), .tokenExpired, .loginRequired, .housekeeping]
            return try team.refusal(choice("error", default: "token_expired", among: failures.map { ($0.name, $0) }))
        }
    }

    /// The context of a route, with the connection of the request.
    struct ListingsRequestContext: RequestContext {
        var coreContext: CoreRequestContextStorage

        /// The channel of the request: its HTTP/2 stream, or its HTTP/1.1 connection. A merged part has the channel of
        /// the whole request.
        let channel: any Channel

        /// Whether the request arrived as a part of a merged request.
        var isMerged = false

        init(source: ApplicationRequestContextSource) {
            self.coreContext = CoreRequestContextStorage(source: source)
            self.channel = source.channel
        }

        /// Waits for `duration`. Throws `CancellationError` as soon as nobody waits for the response: the stream or
        /// connection is closed, or the task is cancelled.
        func delay(_ duration: Duration, on clock: any Clock<Duration>) async throws {
            guard duration > .zero else { return }
            // The task is unstructured, since the channel reports its end to a callback.
            let wait = Task { try await clock.sleep(for: duration) }
            channel.closeFuture.whenComplete { _ in wait.cancel() }
            try await withTaskCancellationHandler {
                try await wait.value
            } onCancel: {
                wait.cancel()
            }
        }
    }

    /// Counts requests and responses. Converts errors without a team's envelope to JSON responses. Responds with 503
    /// while the backend is down.
    private struct CountingMiddleware: RouterMiddleware {
        typealias Context = ListingsRequestContext

        let backend: ListingsBackend

        func handle(
            _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
        ) async throws -> Response {
            let counter = backend.counter
            if context.isMerged {
                counter.mergedRequestArrived()
                return try await respond(to: request, context: context, next: next)
            }
            // The router has set the pattern of the route, except for unknown paths.
            let route = context.endpointPath ?? BackendStatistics.unknownRoute
            counter.requestArrived(at: route)
            do {
                let response = try await respond(to: request, context: context, next: next)
                counter.requestCompleted(at: route, bodyBytes: response.body.contentLength ?? 0)
                return response
            } catch {
                counter.requestAbandoned(at: route)
                throw error
            }
        }

        private func respond(
            to request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
        ) async throws -> Response {
            do {
                if backend.isDown { throw HTTPError(.serviceUnavailable) }
                return try await next(request, context)
            } catch let failure as BackendFailure {
                return try .json(["error": .string(failure.message)], status: .badRequest)
            } catch let error as any HTTPResponseError {
                return try .json(["error": .string(error.status.reasonPhrase)], status: error.status)
            }
        }
    }
#endif
