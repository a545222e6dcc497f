import Hummingbird
import RunwayServer

// The example in the doc comment of MergingRouter, line by line. It is compiled and not run.

private struct Authentication: RouterMiddleware {
    typealias Context = BasicRequestContext

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        try await next(request, context)
    }
}

private func rentals(for request: Request) async throws -> String { request.uri.path }

func makeApplication() -> some ApplicationProtocol {
    let router = Router(context: BasicRequestContext.self)
    router.add(middleware: Authentication())
    router.get("v1/rental/list") { request, context in try await rentals(for: request) }
    let app = Application(router: MergingRouter(router, base: "/v1"))
    return app
}
