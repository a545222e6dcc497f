#if Command
    import Hummingbird
    import HummingbirdCore
    import RunwayServer

    extension ListingsBackend {
        /// Every route of the backend, in the order of its documentation.
        func router() -> MergingRouter<ListingsRequestContext> {
            let router = Router(context: ListingsRequestContext.self)
            router.add(middleware: CountingMiddleware(counter: counter, outage: outage))

            let secondHand = SecondHandAPI(book: book)
            let teams: [any TeamAPI] = [secondHand, RentalAPI(book: book), NewHomesAPI(book: book)]
            for team in teams {
                addRoutes(of: team, to: router)
            }
            router.get("slow/list") { request, context in
                try await respond(request, context, as: secondHand, delayedByDefault: 1000, with: secondHand.list)
            }
            addMemberRoutes(to: router)
            let failing = FailingAPI(teams: teams)
            router.get("failing/list") { request, _ in try failing.status(QueryParameters(of: request.uri)) }
            router.get("failing/truncated") { request, _ in try failing.truncated(QueryParameters(of: request.uri)) }
            router.get("failing/envelope") { request, _ in try failing.envelope(QueryParameters(of: request.uri)) }
            return MergingRouter(router) { envelope, _ in
                var context = envelope
                context.isMerged = true
                return context
            }
        }

        private func addMemberRoutes(to router: Router<ListingsRequestContext>) {
            let members = MemberAPI(book: book, tokens: tokens)
            router.post("member/login") { request, _ in try await members.logIn(request) }
            router.post("member/token") { request, _ in try await members.renew(request) }
            router.get("member/favourites") { request, context in
                let query = QueryParameters(of: request.uri)
                // The token is looked at when the response is made: one may expire while its call is in flight.
                try await context.delay(members.delay(query), on: clock)
                return try members.favourites(query, authorization: request.headers[.authorization])
            }
        }

        private func addRoutes(of team: some TeamAPI, to router: Router<ListingsRequestContext>) {
            let name = type(of: team).name
            router.get("\(name)/list") { request, context in
                try await respond(request, context, as: team, delayedByDefault: 0, with: team.list)
            }
            router.get("\(name)/detail/{id}") { request, context in
                try await respond(request, context, as: team, delayedByDefault: 0) { _ in
                    try team.detail(id: context.parameters.require("id"))
                }
            }
        }

        /// Waits for the delay of the request, responds to it, and lets `team` encode a refusal in its envelope.
        private func respond(
            _ request: Request, _ context: ListingsRequestContext, as team: some TeamAPI,
            delayedByDefault delayMilliseconds: Int, with respond: (QueryParameters) throws -> Response
        ) async throws -> Response {
            do {
                let query = QueryParameters(of: request.uri)
                try await context.delay(query.delay(default: delayMilliseconds), on: clock)
                return try respond(query)
            } catch let failure as BackendFailure {
                return try team.respond(to: failure)
            }
        }
    }
#endif
