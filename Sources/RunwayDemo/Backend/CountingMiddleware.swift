#if Command
    import Hummingbird
    import HummingbirdCore

    /// Counts requests and responses, turns every error outside of a team's envelope into a JSON response, and responds
    /// with 503 while the backend is down.
    struct CountingMiddleware: RouterMiddleware {
        typealias Context = ListingsRequestContext

        let counter: StatisticsCounter
        let outage: Outage

        private struct Body: Encodable {
            let error: String
        }

        func handle(
            _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
        ) async throws -> Response {
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
                if outage.isOn { throw HTTPError(.serviceUnavailable) }
                return try await next(request, context)
            } catch let failure as BackendFailure {
                return try .json(Body(error: failure.message), status: .badRequest)
            } catch let error as any HTTPResponseError {
                return try .json(Body(error: error.status.reasonPhrase), status: error.status)
            }
        }
    }
#endif
