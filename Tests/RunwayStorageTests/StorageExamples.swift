import Foundation
import HTTPTypes
import Runway
import RunwayStorage

// The examples of the documentation, which are compiled and not run.

private enum Listings: APIService {
    static let environments: [ServiceEnvironment: String] = [.release: "https://listings.example"]
}

private enum Logging: APIService {
    static let environments: [ServiceEnvironment: String] = [.release: "https://log.example"]
}

private func actionLogExample(in folder: URL, over network: NetworkLayer) async throws {
    let file = folder.appending(path: "actions.sqlite")
    let log = ActionLog(at: file, sendingTo: Listings.self, at: "log", over: network)
    log.record("opened", ["rental": 42])
    await log.flush()  // when the app goes to the background

    let receipt = log.record("paid", ["amount": 12])
    try await receipt.committed()  // it survives the end of the process from here on
}

private func storagePageExample(in folder: URL, over network: NetworkLayer) async throws {
    let file = folder.appending(path: "actions.sqlite")
    let log = ActionLog(at: file, sendingTo: Logging.self, at: "log", over: network)
    log.record("opened", ["rental": 42])
    try await log.record("paid", ["amount": 12], priority: .high).committed()
    await log.flush()  // when the app goes to the background
}

private func storageErrorExample(_ log: ActionLog) async {
    func showThatTheDiskIsFull() {}
    do { try await log.record("opened").committed() } catch { if error.kind == .full { showThatTheDiskIsFull() } }
}

private func actionLogOptionsExample() -> ActionLogOptions {
    var options = ActionLogOptions()
    options.interval = .seconds(60)
    options.sampleRates = ["scrolled": 0.01]
    options.allowsNetwork = { $0.isReachable && !$0.isExpensive }
    return options
}

private func lowPowerExample() -> ActionLogOptions {
    var options = ActionLogOptions()
    #if canImport(Darwin)
        options.allowsNetwork = {
            $0.isReachable && !$0.isConstrained && !ProcessInfo.processInfo.isLowPowerModeEnabled
        }
    #endif
    return options
}

#if canImport(Darwin)
    /// Sends what waited, as soon as the mode is off.
    private func flushAfterLowPower(_ log: ActionLog) async {
        for await _ in NotificationCenter.default.notifications(named: .NSProcessInfoPowerStateDidChange) {
            await log.flush()
        }
    }
#endif

private func diskCacheExample(in folder: URL, _ transport: any Transport) -> NetworkLayer {
    let network = NetworkLayer(transport: transport, diskCache: DiskCache(in: folder))
    return network
}

private enum Notes: APIService {
    static let environments: [ServiceEnvironment: String] = [.release: "https://notes.example"]
}

private struct RenameNote: Endpoint, Decodable {
    static let service = Notes.self
    static let method = HTTPRequest.Method.put
    static let offline = OfflinePolicy.queued
    var path: EndpointPath { "notes/\(id)" }
    var offlineSubjects: [String] { ["note \(id)"] }
    @Unencoded var id: Int
    var title: String
}

private actor NoteStore {
    func finish(_ rename: RenameNote?, _ result: Result<RawData, NetworkError>) {}
}

extension RawData {
    fileprivate func renaming(_ id: Int, to title: String) -> RawData { self }
}

private func offlineQueueExample(
    in folder: URL, _ transport: any Transport, _ notes: NoteStore
) -> NetworkLayer {
    let queue = OfflineQueue(
        at: folder.appending(path: "changes.sqlite"),
        replaying: [ReplayedEndpoint(RenameNote.self) { rename, _, result in await notes.finish(rename, result) }])
    let network = NetworkLayer(transport: transport, offlineQueue: queue)
    return network
}

private func replayedEndpointExample(_ notes: NoteStore) -> ReplayedEndpoint {
    let endpoint = ReplayedEndpoint(RenameNote.self) { rename, _, result in await notes.finish(rename, result) }
    return endpoint
}

private func restoredCallExample(_ change: QueuedChange) -> RenameNote? {
    let rename = change.call(as: RenameNote.self)
    return rename
}

private func submissionExample(on network: NetworkLayer) async throws -> String {
    let status: String
    switch try await network.submit(RenameNote(id: 7, title: "Bread")) {
    case .response: status = "Saved"
    case .queued(let change): status = "Saved on this device, as \(change.id)"
    }
    return status
}

private func offlineQueueOptionsExample() -> OfflineQueueOptions {
    var options = OfflineQueueOptions()
    options.maximumAge = .seconds(7 * 86_400)
    options.allowsNetwork = { $0.isReachable && !$0.isConstrained }
    return options
}

private func optimisticExample(_ list: RawData, _ queue: OfflineQueue, on network: NetworkLayer) async throws -> RawData
{
    let rename = OptimisticChange(of: RenameNote.self) { rename, list in list.renaming(rename.id, to: rename.title) }
    let shown = OptimisticChange.preview(list, with: try await queue.changes(of: Notes.self, on: network), [rename])
    return shown
}

private struct Badge {
    var count = 0
}

private func queueStateExample(_ queue: OfflineQueue) async {
    var badge = Badge()
    for await state in queue.states { badge.count = state.waitingCount }
}
