import Foundation
import HTTPTypes
import Runway
import RunwayBundleRepository
import RunwaySignatures
import RunwayTUF
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Synchronization
import Testing

@testable import RunwayBundles

/// A repository on a real server, and a device with an app whose embedded copy has version 1.
final class BundleScene: Sendable {
    static let now = UnixTime(seconds: 1_780_315_200)

    let url: URL
    /// The folder of the store.
    let device: URL
    let status = SettableNetworkStatus(.wifi)
    private let origin: ScriptedOrigin
    private let transport: NIOTransport
    private let clock: LayerClock

    private struct State {
        var requests: [String] = []
        var records: [BundleRecord] = []
        /// Responses to requests whose paths end so.
        var faults: [String: @Sendable (ScriptedResponse) -> ScriptedResponse] = [:]
    }

    /// Guards the faults, and what happened.
    private let state = Mutex(State())
    private let time: DeviceTime

    /// - Parameters:
    ///   - clock: A clock that the test advances. The default is the system's.
    ///   - disk: The disk of the device. The default is the system's.
    static func run(
        clock: ManualClock? = nil, disk: URL? = nil, _ body: (BundleScene) async throws -> Void
    ) async throws {
        try await withScriptedOrigin { origin in
            let scene = try BundleScene(origin, clock, disk)
            defer { try? FileManager.default.removeItem(at: scene.url) }
            try await body(scene)
        }
    }

    private init(_ origin: ScriptedOrigin, _ clock: ManualClock?, _ disk: URL?) throws {
        url = FileManager.default.temporaryDirectory.appending(path: "BundleScene.\(UUID().uuidString)")
        device = (disk ?? url).appending(path: "device")
        self.origin = origin
        let time = DeviceTime()
        let wall = { @Sendable in time.date }
        self.clock = clock.map { LayerClock($0, wall: wall) } ?? LayerClock(ContinuousClock(), wall: wall)
        transport = try NIOTransport()
        self.time = time
        try write(["index.html": "<p>1", "same.css": "p {}", "old name.txt": "unchanged bytes"], to: embedded)
        try repository.create(keys, at: Self.now)
        origin.otherwise { [weak self] request in self?.respond(to: request) ?? ScriptedResponse(status: .gone) }
    }

    /// Sets the clock of the device.
    func setClock(_ seconds: Int64) { time.seconds.withLock { $0 = seconds } }

    // MARK: - The repository

    var repository: Repository { Repository(url.appending(path: "site")) }
    var keys: KeyFolder { KeyFolder(url.appending(path: "keys")) }

    static func target(_ channel: String = "release") throws -> BundleTarget {
        try #require(BundleTarget(bundle: "shop", channel: channel, runtime: "1"))
    }

    private func write(_ files: [String: String], to folder: URL) throws {
        try? FileManager.default.removeItem(at: folder)
        for (path, text) in files {
            let file = folder.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
    }

    func publish(_ version: Int64, _ files: [String: String], share: Int64 = 10_000, floor: Int64 = 0) throws {
        let folder = url.appending(path: "dist")
        try write(files, to: folder)
        try repository.publish(
            folder, as: try Self.target(), version: version, share: share, floor: floor, keys, at: Self.now)
    }

    func change(share: Int64? = nil, isStopped: Bool? = nil) throws {
        try repository.change(try Self.target(), share: share, isStopped: isStopped, keys, at: Self.now)
    }

    // MARK: - The server

    private func respond(to request: ReceivedRequest) -> ScriptedResponse {
        let path = request.path.removingPercentEncoding ?? ""
        let fault = state.withLock { state in
            state.requests.append(path + (request["Range"].map { " \($0)" } ?? ""))
            return state.faults.first { path.hasSuffix($0.key) }?.value
        }
        guard let data = try? Data(contentsOf: url.appending(path: "site" + path)) else {
            return ScriptedResponse(status: .notFound)
        }
        var (bytes, fields) = (Array(data), HTTPFields())
        let tag = "\"\(Hexadecimal.sha256(bytes))\""
        (fields[.eTag], fields[.acceptRanges]) = (tag, "bytes")
        guard request["If-Range"] == tag, let range = request["Range"], let start = Int(range.dropFirst(6).dropLast())
        else {
            let response = ScriptedResponse(headerFields: fields, chunks: [bytes])
            return fault?(response) ?? response
        }
        fields[.contentRange] = "bytes \(start)-\(bytes.count - 1)/\(bytes.count)"
        bytes.removeFirst(start)
        return ScriptedResponse(status: .partialContent, headerFields: fields, chunks: [bytes])
    }

    /// Changes responses to requests whose paths end with a text, unless they are for a range.
    func setFault(_ suffix: String, _ fault: (@Sendable (ScriptedResponse) -> ScriptedResponse)?) {
        state.withLock { $0.faults[suffix] = fault }
    }

    /// Returns the paths that were requested since the last call.
    func takeRequests() -> [String] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    /// Returns the paths of files that were requested since the last call.
    func takeFileRequests() -> [String] { takeRequests().filter { $0.hasPrefix("/files/") } }

    // MARK: - The device

    var embedded: URL { url.appending(path: "app") }

    /// Starts a process of the app, after the former one has ended.
    func store(
        embedded version: Int64 = 1, channel: String = "release", options: BundleOptions = BundleOptions()
    ) async throws -> BundleStore {
        let root = try Data(contentsOf: url.appending(path: "site/metadata/1.root.json"))
        let source = BundleSource(origin.baseURL, root: Array(root), bundle: "shop", channel: channel)
        // A layer of the process's own, since a layer refuses a request that is made 100 times within 10 s.
        let network = NetworkLayer(transport: transport, clock: clock, status: status)
        var store: BundleStore?
        // The tasks of the former process may hold its store a moment longer.
        try await waitUntil("the folder is free") {
            do throws(BundleError) {
                store = try BundleStore(
                    in: device, embedded: EmbeddedBundle(embedded, version: version), from: source, on: network,
                    options: options
                ) { [weak self] record in self?.state.withLock { $0.records.append(record) } }
            } catch {
                guard error.kind == .inUse else { throw error }
            }
            return store != nil
        }
        return try #require(store)
    }

    /// Installs what is published, and makes it ready in a further process.
    func runNewest() async throws {
        let outcome = try await store().check()
        #expect(outcome.kind != .failed, "\(outcome)")
        let store = try await store()
        try store.ready(store.running.id)
    }

    /// Returns the kinds of the records since the last call.
    func takeKinds() -> [BundleRecord.Kind] {
        state.withLock { state in
            defer { state.records = [] }
            return state.records.map(\.kind)
        }
    }

    /// The names of the files that the device has in a folder.
    func names(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: device.appending(path: folder).path)) ?? []).sorted()
    }

    /// The place of a file with a text on the device.
    func file(_ text: String) -> URL { device.appending(path: "files/\(Hexadecimal.sha256(Array(text.utf8)))") }
}

/// The clock of a device.
private final class DeviceTime: Sendable {
    /// Guards the time.
    let seconds = Mutex(BundleScene.now.seconds)
    var date: Date { Date(timeIntervalSince1970: TimeInterval(seconds.withLock { $0 })) }
}

extension RunningBundle {
    /// The text of a file; `nil` if there is none.
    func text(_ path: String) throws -> String? { try read(path).map { String(decoding: $0, as: UTF8.self) } }
}

extension ManualClock {
    /// Advances by at most 1 s towards the first deadline that somebody waits for, if it is not after a limit. Who has not
    /// begun to wait yet finds the clock where it was.
    func advanceToSleeper(until limit: Instant) {
        guard let deadline = nextDeadline, deadline <= limit else { return }
        advance(to: min(deadline, now.advanced(by: .seconds(1))))
    }
}
