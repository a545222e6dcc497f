import Foundation
import HTTPTypes
import Hummingbird
import RunwayServer
import RunwayServerStorage

// The examples in the doc comments of SQLiteActionLogSink, ActionLogFile and SQLiteIdempotencyStore, line by line. They are compiled and
// not run.

private func addLog(in folder: URL, to router: Router<BasicRequestContext>) throws {
    let sink = try SQLiteActionLogSink(at: folder.appending(path: "actions.sqlite"))
    ActionLogRoute(to: sink).add(to: router.group("v1"))
}

private func printCounts(in folder: URL) throws {
    for count in try ActionLogFile(at: folder.appending(path: "actions.sqlite")).counts() {
        print(count.installation, count.name, count.count)
    }
}

private func account(of request: Request) -> String? { request.headers[.authorization] }

private func addKeys(in folder: URL, to router: Router<BasicRequestContext>) throws {
    let store = try SQLiteIdempotencyStore(at: folder.appending(path: "idempotency.sqlite"))
    router.add(middleware: IdempotencyMiddleware(store: store) { request, _ in account(of: request) })
}
