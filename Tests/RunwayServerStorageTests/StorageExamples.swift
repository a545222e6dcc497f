import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import RunwayServer
import RunwayServerStorage
import RunwaySignatures

// The examples in the doc comments of SQLiteActionLogSink, ActionLogFile, SQLiteIdempotencyStore, SQLiteEnrolmentStore and
// SQLiteNonceStore, line by line. They are compiled and not run.

private func addLog(in folder: URL, to router: Router<BasicRequestContext>) throws {
    let sink = try SQLiteActionLogSink(at: folder.appending(path: "actions.sqlite"))
    ActionLogRoute(to: sink).add(to: router.group("v1"))
}

/// The example of ActionLogQuotas.
private func makeLargeLog(in folder: URL) throws -> SQLiteActionLogSink {
    var quotas = ActionLogQuotas()
    quotas.maximumByteCount = 200 << 30
    let sink = try SQLiteActionLogSink(at: folder.appending(path: "actions.sqlite"), quotas: quotas)
    return sink
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

private struct AppContext: SignedRequestContext {
    var coreContext: CoreRequestContextStorage
    let remoteAddress: SocketAddress?
    var signer: VerifiedSigner?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}

private func addEnrolment(
    in folder: URL, to router: Router<AppContext>, _ rules: EnrolmentRules, _ signatureRules: SignatureRules
) throws {
    let store = try SQLiteEnrolmentStore(at: folder.appending(path: "enrolment.sqlite"))
    EnrolmentRoutes(rules, keys: store) { request, _ in account(of: request) }.add(to: router.group("v1"))
    router.add(middleware: SignatureMiddleware(signatureRules, keys: store))
}

private func addNonces(
    in folder: URL, to router: Router<AppContext>, _ rules: SignatureRules, _ keys: any KeyDirectory, _ now: UnixTime
) throws {
    let nonces = try SQLiteNonceStore(at: folder.appending(path: "nonces.sqlite"), startedAt: now)
    router.add(middleware: SignatureMiddleware(rules, keys: keys, nonces: nonces))
}

/// The example of `docs/signing.md`.
private func makeShortLivedKeys(in folder: URL) throws -> (EnrolmentRules, SQLiteEnrolmentStore) {
    var enrolmentRules = EnrolmentRules(origin: PublicOrigin("api.example.com"))
    enrolmentRules.keyLifetime = .seconds(7 * 86_400)
    let enrolled = try SQLiteEnrolmentStore(at: folder.appending(path: "enrolment.sqlite"))
    return (enrolmentRules, enrolled)
}
