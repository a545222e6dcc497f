#if PostgreSQL
    import Foundation
    import Hummingbird
    import RunwayPostgreSQL
    import RunwayServer
    import RunwaySignatures

    // The examples in the doc comments, line by line. They are compiled and not run.

    private func addLog(to router: Router<BasicRequestContext>) async throws {
        let sink = try await PostgreSQLActionLogSink(at: "postgres://log@db.example.com/actions")
        ActionLogRoute(to: sink).add(to: router.group("v1"))
    }

    private func addIdempotency(
        to router: Router<BasicRequestContext>, account: @escaping @Sendable (Request) -> String?
    ) async throws {
        let store = try await PostgreSQLIdempotencyStore(at: "postgres://api@db.example.com/api")
        router.add(middleware: IdempotencyMiddleware(store: store) { request, _ in account(request) })
    }

    private func addSignatures(
        to router: Router<BasicSignedRequestContext>, _ rules: SignatureRules, keys: any KeyDirectory, now: UnixTime
    ) async throws {
        let nonces = try await PostgreSQLNonceStore(at: "postgres://api@db.example.com/api", startedAt: now)
        router.add(middleware: SignatureMiddleware(rules, keys: keys, nonces: nonces))
    }

    private func makeChat() async throws -> ChatService {
        let store = try await PostgreSQLChatStore(at: "postgres://chat@db.example.com/chat")
        let log = try await PostgreSQLEventLog(at: "postgres://chat@db.example.com/chat", name: "chat")
        let chat = ChatService(store: store, hub: try await EventHub(name: "chat", log: log))
        return chat
    }

    private func makeHub() async throws -> EventHub {
        let log = try await PostgreSQLEventLog(at: "postgres://chat@db.example.com/chat", name: "chat")
        let hub = try await EventHub(name: "chat", log: log)
        return hub
    }

    private func makeSync(members: Members) async throws -> SyncService {
        let store = try await SyncStore.postgreSQL(at: "postgres://sync@db.example.com/sync")
        let log = try await PostgreSQLEventLog(at: "postgres://sync@db.example.com/sync", name: "sync")
        let hub = try await EventHub(name: "sync", log: log)
        let sync = SyncService(store: store, hub: hub) { subject, space, access in
            members.contains(subject, in: space)
        }
        return sync
    }

    private struct Members {
        func contains(_ subject: String, in space: UUID) -> Bool { true }
    }
#endif
