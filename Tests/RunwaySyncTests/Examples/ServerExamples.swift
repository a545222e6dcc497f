import Foundation
import Hummingbird
import RunwayServer
import RunwayServerStorage
import RunwaySyncCore

// The examples of the documentation for the server, which only have to compile.

private struct Account {
    let id: String
    let spaces: [UUID]
}

private struct AccountContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    var account: Account!

    init(source: ApplicationRequestContextSource) { coreContext = CoreRequestContextStorage(source: source) }
}

private struct Members: Sendable {
    func contains(_ subject: String, in space: UUID) -> Bool { true }
}

private func addRoutes(to router: Router<AccountContext>, file: URL, members: Members) async throws {
    let hub = try await EventHub(name: "sync", log: MemoryEventLog())
    let store = try SyncStore.sqlite(at: file)
    let sync = SyncService(store: store, hub: hub, conflicts: ["note": .ask]) { subject, space, access in
        members.contains(subject, in: space)
    }
    SyncRouter(sync) { request, context in
        guard let account = context.account else { throw HTTPError(.unauthorized) }
        return account.id
    }.add(to: router)
    EventStreamRoute(hub) { request, context in
        let topics = context.account.spaces.map { SyncService.topic(of: $0) }
        return EventPermission(topics: Set(topics), owner: context.account.id)
    }.add(to: router)
}

private func addFiles(to router: Router<AccountContext>, sync: SyncService) {
    SyncRouter(sync, files: .folder("/var/lib/app/files")) { request, context in
        guard let account = context.account else { throw HTTPError(.unauthorized) }
        return account.id
    }.add(to: router)
}

private func pay(_ order: UUID, in space: UUID, file: URL, hub: EventHub, members: Members) async throws {
    let sync = SyncService(store: try .sqlite(at: file), hub: hub) { subject, space, access in
        members.contains(subject, in: space)
    }
    try await sync.write(in: space) { $0.set(["state": .text("paid")], of: order, in: "order") }
}
