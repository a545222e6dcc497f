import Crypto
import Foundation
import Hummingbird
import RunwayServer
import RunwayServerStorage
import RunwaySignatures
import ServiceLifecycle

/// `SampleServer FOLDER PORT [HOST]` serves the apps of `Samples` on the loopback: put a proxy with TLS for the host before it,
/// which appends to `X-Forwarded-For`. `SAMPLE_ACCOUNTS` has names and passwords, such as `anna:secret,ben:other`.
@main
struct SampleServer {
    let accounts: Accounts
    let origin: PublicOrigin
    let folder: URL

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 2, let port = Int(arguments[2]) else { fatalError("SampleServer FOLDER PORT [HOST]") }
        umask(0o077)  // What is stored is for the server's user alone.
        let folder = URL(filePath: arguments[1], directoryHint: .isDirectory)
        let parts = folder.appending(path: "films/parts")
        try? FileManager.default.removeItem(at: parts)  // Those of a process that was killed.
        try FileManager.default.createDirectory(at: parts, withIntermediateDirectories: true)
        let file = folder.appending(path: "key")
        if !FileManager.default.fileExists(atPath: file.path) {
            try SymmetricKey(size: .bits256).withUnsafeBytes { try Data($0).write(to: file, options: .atomic) }
        }
        let key = SymmetricKey(data: try Data(contentsOf: file))
        let list = ProcessInfo.processInfo.environment["SAMPLE_ACCOUNTS"] ?? ""
        let pairs = list.split(separator: ",").map { $0.split(separator: ":", maxSplits: 1).map(String.init) }
        let accounts = Accounts(passwords: Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1]) }), key: key)
        let host = arguments.dropFirst(3).first
        var origin = PublicOrigin(host ?? "127.0.0.1:\(port)", scheme: host == nil ? "http" : "https")
        if host != nil { origin.proxySourceField = .init("X-Forwarded-For") }
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
            // The token and the key of the device are those of one account, which no renewed token would change.
            let name = try accounts.login(of: request).name
            guard name == context.signer?.owner else { throw HTTPError(.forbidden) }
            return name
        }
        let hub = try await EventHub(name: "sample", log: SQLiteEventLog(file: file("events")))
        addShop(to: router, v1, hub)
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
            return EventPermission(topics: Set(topics + shopTopics(of: name)), owner: name, lifetime: lifetime)
        }.add(to: v1)
        let chat = ChatService(store: try SQLiteChatStore(at: file("chat")), hub: hub)
        ChatRoutes(chat) { request, _, conversation in
            let name = try accounts.login(of: request).name
            guard accounts.conversations(of: name).contains(conversation) else { throw HTTPError(.notFound) }
            return name
        }.add(to: v1)
        let uploads = UploadRouter(
            router, folder: folder.appending(path: "uploads").path,
            source: { request, context in origin.source(of: request.head, from: context.remoteAddress) },
            owner: { request, _ in .account(try accounts.login(of: request).name) })
        let application = Application(
            router: GuardedRouter(uploads, HostRules(Set(origin.authorities))),
            server: .http1(ConnectionLimits()),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)))
        try await ServiceGroup(
            services: [chat, application, hub], gracefulShutdownSignals: [.sigterm, .sigint], logger: application.logger
        ).run()
    }
}
