import Hummingbird
import RunwayServer

// The example in the doc comment of ActionLogRoute, line by line. It is compiled and not run.

private func addLog(_ sink: MemoryActionLogSink, to router: Router<BasicRequestContext>) {
    ActionLogRoute(to: sink).add(to: router.group("v1"))
}
