import HTTPTypes
import Hummingbird
import RunwayServer

// The example in the doc comment of IdempotencyMiddleware, line by line. It is compiled and not run.

private func account(of request: Request) -> String? { request.headers[.authorization] }

private func addKeys(to router: Router<BasicRequestContext>) {
    var rules = IdempotencyRules()
    rules.requiresKey = { $0.path?.hasPrefix("/v1/orders") ?? false }
    router.add(
        middleware: IdempotencyMiddleware(rules, store: MemoryIdempotencyStore()) { request, _ in account(of: request) }
    )
}
