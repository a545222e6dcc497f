import Foundation
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
    await log.flush()  // when the app goes to the background, and after a sign-in
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

private func diskCacheExample(in folder: URL, _ transport: any Transport) -> NetworkLayer {
    let network = NetworkLayer(transport: transport, diskCache: DiskCache(in: folder))
    return network
}
