import Hummingbird
import HummingbirdCore

extension ListingsBackend {
    /// Every route of the backend, in the order of its documentation.
    func router() -> Router<ListingsRequestContext> {
        let router = Router(context: ListingsRequestContext.self)
        router.add(middleware: AnsweringMiddleware(counter: counter))

        let secondHand = SecondHandAPI(catalogue: catalogue)
        let teams: [any TeamAPI] = [
            secondHand, RentalAPI(catalogue: catalogue), NewHomesAPI(catalogue: catalogue),
        ]
        for team in teams {
            addRoutes(of: team, to: router)
        }
        router.get("slow/list") { request, context in
            try await answer(request, context, as: secondHand, delayedByDefault: 1000, with: secondHand.list)
        }
        let failing = FailingAPI(teams: teams)
        router.get("failing/list") { request, _ in try failing.status(QueryParameters(of: request.uri)) }
        router.get("failing/truncated") { request, _ in try failing.truncated(QueryParameters(of: request.uri)) }
        router.get("failing/envelope") { request, _ in try failing.envelope(QueryParameters(of: request.uri)) }
        return router
    }

    private func addRoutes(of team: some TeamAPI, to router: Router<ListingsRequestContext>) {
        let name = type(of: team).name
        router.get("\(name)/list") { request, context in
            try await answer(request, context, as: team, delayedByDefault: 0, with: team.list)
        }
        router.get("\(name)/detail/{id}") { request, context in
            try await answer(request, context, as: team, delayedByDefault: 0) { _ in
                try team.detail(id: context.parameters.require("id"))
            }
        }
    }

    /// Waits as the request asks, answers it, and lets `team` put what it refuses into its envelope.
    private func answer(
        _ request: Request, _ context: ListingsRequestContext, as team: some TeamAPI,
        delayedByDefault delayMilliseconds: Int, with respond: (QueryParameters) throws -> Response
    ) async throws -> Response {
        do {
            let query = QueryParameters(of: request.uri)
            try await context.delay(query.delay(default: delayMilliseconds), on: clock)
            return try respond(query)
        } catch let failure as BackendFailure {
            return try team.answer(to: failure)
        }
    }
}
