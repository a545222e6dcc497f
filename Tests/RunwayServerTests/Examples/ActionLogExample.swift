import HTTPTypes
import Hummingbird
import RunwayServer

// The examples in the doc comments of ActionLogRoute and ActionLogPace, line by line. They are compiled and not run.

private func addLog(_ sink: MemoryActionLogSink, to router: Router<BasicRequestContext>) {
    ActionLogRoute(to: sink).add(to: router.group("v1"))
}

private func account(of request: Request) -> String? { nil }

private func addErasure(_ sink: MemoryActionLogSink, to router: Router<BasicRequestContext>) {
    let route = ActionLogRoute(to: sink)
    route.add(to: router)
    route.addErasure(to: router) { request, context in account(of: request) }
}

/// The example of `docs/storage.md`.
private func addLog(behindAProxy sink: MemoryActionLogSink) -> Router<BasicSignedRequestContext> {
    let router = Router(context: BasicSignedRequestContext.self)
    ActionLogRoute(to: sink).add(to: router) { request, _ in
        HTTPField.Name("X-Real-IP").flatMap { request.headers[$0] }
    }
    return router
}

private func isOverloaded() -> Bool { false }

private func slowDown(_ sink: MemoryActionLogSink) -> ActionLogRoute<MemoryActionLogSink> {
    let pace = ActionLogPace(wait: .seconds(600), sampleRate: 0.1)
    let route = ActionLogRoute(to: sink, pace: { _ in isOverloaded() ? pace : nil })
    return route
}
