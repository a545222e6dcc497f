#if Command
    import HTTPTypes
    import Hummingbird
    import NIOCore
    import Runway
    import RunwayServer

    extension ListingsBackend {
        /// Returns a router with every route of the backend, in the order of its documentation.
        func router() -> MergingRouter<ListingsRequestContext> {
            typealias Context = ListingsRequestContext
            let router = Router(context: Context.self)
            router.add(middleware: CountingMiddleware(backend: self))

            /// Adds a route that waits for the delay of the request, and has its failures in a team's envelope.
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
            // The token is looked at when the response is made: one may expire while its call is in flight.
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

        /// Returns the status of `status=`, from 400 to 599; without it 500 and 503 by turns, 500 first.
        private static func failure(_ query: QueryParameters, _ failures: ReceivedCount) throws -> Response {
            let code = try query.integer("status", in: 400...599) ?? (failures.add(1) % 2 == 1 ? 500 : 503)
            return try .json(
                ["error": "this API fails on purpose with \(code)"], status: HTTPResponse.Status(code: code))
        }

        /// A list of second-hand homes, complete as HTTP, whose JSON is truncated.
        private static var truncated: Response {
            .json(
                bytes: ByteBuffer(
                    string: """
                        {"status":"ok","data":{"list":[\
                        {"esf_id":"E100001","esf_title":"翠湖花园 3室","esf_total_price":523.4},\
                        {"esf_id":"E100002","esf_title":"云山
                        """))
        }

        /// Returns the failure of `error=` (a ``BackendFailure/name``, by default `token_expired`) as `team=` (`esf`,
        /// `zf` or `xinfang`, by default `zf`) writes it.
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

    /// The context of a route, which also has the connection on which the request was received.
    struct ListingsRequestContext: RequestContext {
        var coreContext: CoreRequestContextStorage

        /// The stream of the request over HTTP/2, its connection over HTTP/1.1; for a merged request, the one of its
        /// envelope.
        let channel: any Channel

        /// Whether the request was received in an envelope of merged requests.
        var isMerged = false

        init(source: ApplicationRequestContextSource) {
            self.coreContext = CoreRequestContextStorage(source: source)
            self.channel = source.channel
        }

        /// Waits for `duration`; throws `CancellationError` as soon as the response is not needed any more: the stream
        /// or connection is closed, or the task is cancelled.
        func delay(_ duration: Duration, on clock: any Clock<Duration>) async throws {
            guard duration > .zero else { return }
            // The task is unstructured because a closed channel calls a callback, and does not cancel a task.
            let wait = Task { try await clock.sleep(for: duration) }
            channel.closeFuture.whenComplete { _ in wait.cancel() }
            try await withTaskCancellationHandler {
                try await wait.value
            } onCancel: {
                wait.cancel()
            }
        }
    }

    /// Counts requests and responses, turns every error outside of a team's envelope into a JSON response, and responds
    /// with 503 while the backend is down.
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
            // The router has set the pattern already, except for paths that it does not have.
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
