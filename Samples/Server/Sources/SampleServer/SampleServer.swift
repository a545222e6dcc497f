import Crypto
import Foundation
import Hummingbird
import RunwayServer
import RunwayServerStorage
import RunwaySignatures
import ServiceLifecycle

/// `SampleServer FOLDER PORT [HOST]` serves the apps of `Samples` on the loopback: put a proxy with TLS for the host before it.
///
/// The variable `SAMPLE_ACCOUNTS` has names and passwords, such as `anna:secret,ben:other`.
@main
struct SampleServer {
    let accounts: Accounts
    let origin: PublicOrigin
    let folder: URL

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 2, let port = Int(arguments[2]) else { fatalError("SampleServer FOLDER PORT [HOST]") }
        let folder = URL(filePath: arguments[1], directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
            at: folder.appending(path: "films"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let file = folder.appending(path: "key").path
        if !FileManager.default.fileExists(atPath: file) {
            let key = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
            _ = FileManager.default.createFile(atPath: file, contents: key, attributes: [.posixPermissions: 0o600])
        }
        let key = SymmetricKey(data: try Data(contentsOf: URL(filePath: file)))
        let pairs = (ProcessInfo.processInfo.environment["SAMPLE_ACCOUNTS"] ?? "").split(separator: ",").map {
            $0.split(separator: ":", maxSplits: 1).map(String.init)
        }
        let passwords = Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1]) })
        let origin =
            arguments.count > 3 ? PublicOrigin(arguments[3]) : PublicOrigin("127.0.0.1:\(port)", scheme: "http")
        let accounts = Accounts(passwords: passwords, key: key)
        try await SampleServer(accounts: accounts, origin: origin, folder: folder).run(port: port)
    }

    private func run(port: Int) async throws {
        func file(_ name: String) -> URL { folder.appending(path: "\(name).sqlite") }
        let router = Router(context: BasicSignedRequestContext.self)
        let v1 = router.group("v1")
        addTokens(to: v1)
        addRentals(to: v1)
        let keys = try SQLiteEnrolmentStore(at: file("keys"))
        EnrolmentRoutes(EnrolmentRules(origin: origin), keys: keys) { request, _ in try accounts.login(of: request).name
        }.add(to: v1)
        let now = UnixTime(seconds: Int64(Date().timeIntervalSince1970))
        let nonces = try SQLiteNonceStore(at: file("nonces"), startedAt: now)
        var rules = SignatureRules(tag: "sample", origin: origin)
        rules.policy.serverNonces = ServerNonces()
        let signatures = SignatureMiddleware<BasicSignedRequestContext>(rules, keys: keys, nonces: nonces)
        let store = try SQLiteIdempotencyStore(at: file("idempotency"))
        let idempotency = IdempotencyMiddleware<BasicSignedRequestContext>(store: store) { request, context in
            // The token and the key of the device are those of one account.
            let name = try accounts.login(of: request).name
            return name == context.signer?.owner ? name : nil
        }
        let hub = try await EventHub(name: "sample", log: SQLiteEventLog(file: file("events")))
        addViewings(to: v1.group("viewings").add(middleware: signatures).add(middleware: idempotency), hub)

        // Who names an account in a batch has to be that account.
        let log = ActionLogRoute(
            to: try SQLiteActionLogSink(at: file("actions")),
            refusing: { _, batch in batch.account == nil || batch.account == batch.source ? nil : "another account" })
        log.add(to: v1) { request, _ in try accounts.login(of: request).name }
        log.addErasure(to: v1) { request, _ in try accounts.login(of: request).name }
        EventStreamRoute(hub) { request, _ in
            let (name, lifetime) = try accounts.login(of: request)
            let topics = accounts.conversations(of: name).map { ChatService.topic(of: $0) } + ["viewings/\(name)"]
            return EventPermission(topics: Set(topics), owner: name, lifetime: lifetime)
        }.add(to: v1)
        let chat = ChatService(store: try SQLiteChatStore(at: file("chat")), hub: hub)
        ChatRoutes(chat) { request, _, conversation in
            let name = try accounts.login(of: request).name
            guard accounts.conversations(of: name).contains(conversation) else { throw HTTPError(.notFound) }
            return name
        }.add(to: v1)
        let uploads = UploadRouter(router, folder: folder.appending(path: "uploads").path) { request, _ in
            .account(try accounts.login(of: request).name)
        }
        let application = Application(
            router: GuardedRouter(uploads, HostRules(Set(CommandLine.arguments.dropFirst(3)))),
            server: .http1(ConnectionLimits()),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { _ in print("Serving at port \(port).") })
        try await ServiceGroup(
            services: [chat, application, hub], gracefulShutdownSignals: [.sigterm, .sigint], logger: application.logger
        ).run()
    }
}
