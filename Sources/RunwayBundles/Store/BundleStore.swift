public import Foundation
public import Runway
import RunwaySignatures
import RunwayTUF
import Synchronization

/// The bundles of an app: what it may receive after its release, as one versioned set of files that a repository signs.
///
/// ```swift
/// let store = try BundleStore(
///     in: folder, embedded: EmbeddedBundle(pages, version: 12),
///     from: BundleSource("https://cdn.example.com/shop", root: root, bundle: "shop"), on: network)
/// let page = try store.running.read("index.html")
/// ```
///
/// The app always has a bundle to run: the newest installed one, the last good one, or the copy that is embedded in the
/// app. A new version is downloaded beside the running one, and runs from the next launch on. After each launch the app
/// calls ``ready(_:)``. A bundle that is launched twice without it is condemned: it never runs again on this device.
///
/// Metadata is that of The Update Framework 1.0. When it expires, nothing new is installed, and what is installed runs
/// on.
public final class BundleStore: Sendable {
    struct Shared {
        var state: BundleState
        /// Whether ``state`` could not be stored. The next change stores it.
        var isUnstored = false
        var running: RunningBundle?
        /// The bundles that earlier launches of this process returned.
        var earlier: [WeakBundle] = []
        /// Whether files may be left that no bundle needs.
        var hasRemains = true
        var progress: BundleStatus.Progress?
        var lastCheck: (date: Date, outcome: BundleRecord)?
        /// The check in progress, which later callers join.
        var checking: Task<BundleRecord, Never>?
        var readers: [UUID: AsyncStream<BundleStatus>.Continuation] = [:]
    }

    struct WeakBundle { weak var bundle: RunningBundle? }

    let folder: BundleFolder
    let embedded: EmbeddedBundle
    let target: BundleTarget
    let options: BundleOptions
    let network: NetworkLayer
    let updater: MetadataUpdater
    /// The parts of the repository.
    let targets: RepositoryNetwork, files: RepositoryNetwork
    private let onRecord: @Sendable (BundleRecord) -> Void
    /// Guards which bundle runs, what is installed, the check in progress, and the readers of ``statuses``.
    let shared: Mutex<Shared>
    let signals: AsyncStream<Void>
    let signal: AsyncStream<Void>.Continuation

    /// Opens the bundles of an app, without launching one.
    ///
    /// - Parameters:
    ///   - folder: A folder of the store's own, for example in Application Support. It is created if it does not exist,
    ///     and excluded from backups. In the container of an app group on iOS, the app ensures that only one process
    ///     has it open.
    ///   - embedded: The copy in the app.
    ///   - source: The repository, and which of its bundles the app runs.
    ///   - network: The layer that sends the requests. All stores of a layer have repositories on one host.
    ///   - options: The settings. The default settings are ``BundleOptions/init()``.
    ///   - onRecord: Receives the record of each decision, on any thread. It must return at once.
    /// - Throws: ``BundleError/Kind/invalid`` if the source is invalid, ``BundleError/Kind/inUse`` if another store has
    ///   the folder, ``BundleError/Kind/storage`` if it can't be used, or if the state of the store is there and can't
    ///   be read now. Run the embedded copy then.
    public init(
        in folder: URL, embedded: EmbeddedBundle, from source: BundleSource, on network: NetworkLayer,
        options: BundleOptions = BundleOptions(), onRecord: @escaping @Sendable (BundleRecord) -> Void = { _ in }
    ) throws(BundleError) {
        let (target, metadata, targets, files) = try source.parts(on: network)
        self.folder = try BundleFolder(folder)
        (self.embedded, self.target, self.options, self.network) = (embedded, target, options, network)
        (self.targets, self.files, self.onRecord) = (targets, files, onRecord)
        updater = MetadataUpdater(MetadataFolder(self.folder.metadata), embeddedRoot: source.root) {
            try await metadata.metadata($0, upTo: $1)
        }
        let (stored, isUnreadable) = try self.folder.state()
        var state = stored ?? BundleState(device: UUID().uuidString)
        let lost = isUnreadable ? [BundleRecord(.unreadable, nil, "The state was renamed state.json.unreadable.")] : []
        let records = lost + state.open(target.path, over: embedded.version)
        // If the disk can't be written now, the next change stores the state.
        try? self.folder.store(state)
        shared = Mutex(Shared(state: state))
        (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        files.prepareDownloads()
        report(records)
    }

    deinit {
        for reader in shared.withLock({ Array($0.readers.values) }) { reader.finish() }
    }

    // MARK: - Running

    /// The bundle that this process runs. The first access launches it, see ``launch()``.
    public var running: RunningBundle { launch(unlessRunning: true) }

    /// Chooses the bundle that runs from now on, and counts its launch.
    ///
    /// Call it again to run a version that was installed meanwhile, or after the pages of the running bundle have
    /// crashed; then show the pages of the returned bundle. Each launch needs its own ``ready(_:)``. A process that
    /// shows no page, such as one that the system has launched in the background, should launch nothing.
    ///
    /// Reads the manifest, and waits for the disk. A bundle whose launch can't be counted there runs only if it has
    /// been ready before. If its manifest can't be read now, the bundle stays, and the embedded copy runs this time.
    @discardableResult public func launch() -> RunningBundle { launch(unlessRunning: false) }

    /// Decides on a bundle and launches it under one lock, so that threads that access ``running`` at the same time
    /// count as one launch.
    private func launch(unlessRunning: Bool) -> RunningBundle {
        let (running, records): (RunningBundle, [BundleRecord]) = shared.withLock { shared in
            if unlessRunning, let running = shared.running { return (running, []) }
            var manifests: [BundleID: BundleManifest] = [:]
            var state = shared.state
            var records: [BundleRecord]
            let installed: (id: BundleID, manifest: BundleManifest)?
            do throws(BundleError) {
                records = try state.launch { (bundle) throws(BundleError) in
                    do throws(BundleError) {
                        let manifest = try folder.manifest(of: bundle)
                        manifests[bundle] = manifest
                        return options.downloads.allow(manifest) ? nil : .superseded
                    } catch {
                        guard error.kind == .damaged else { throw error }
                        return .damaged
                    }
                }
                try folder.store(state)
                (shared.state, shared.isUnstored) = (state, false)
                installed = state.running.flatMap { id in manifests[id].map { (id, $0) } }
            } catch {
                installed = state.runningUncounted.flatMap { id in
                    (try? folder.manifest(of: id)).flatMap { options.downloads.allow($0) ? (id, $0) : nil }
                }
                records = [
                    BundleRecord(.uncounted, installed?.id ?? BundleID(embedded: embedded.version), "\(error)")
                ]
            }
            let running = RunningBundle(
                installed?.id ?? BundleID(embedded: embedded.version), embedded,
                installed.map { (folder, $0.manifest) }
            ) { [weak self] in self?.didDamage($0) }
            shared.earlier.removeAll { $0.bundle == nil }
            if let former = shared.running { shared.earlier.append(WeakBundle(bundle: former)) }
            (shared.running, shared.hasRemains) = (running, true)
            return (running, records)
        }
        if !records.isEmpty { report(records) }
        return running
    }

    /// Reports that a bundle is ready: its first page has appeared, and does what it must.
    ///
    /// Call it once after each launch. A report of another bundle than the running one has no effect.
    ///
    /// - Parameter bundle: The bundle, as ``RunningBundle/id`` or as a page of it has sent it.
    /// - Throws: ``BundleError/Kind/storage`` if the report can't be stored.
    public func ready(_ bundle: BundleID) throws(BundleError) { try change { $0.ready(bundle) } }

    /// Turns the local kill switch on or off: while it is on, launches return the embedded copy, and nothing is
    /// installed. It stays on after the process ends. What is installed stays.
    ///
    /// - Throws: ``BundleError/Kind/storage``.
    public func switchOff(_ isSwitchedOff: Bool = true) throws(BundleError) {
        try change { $0.switchOff(isSwitchedOff) }
    }

    private func didDamage(_ bundle: BundleID) {
        // If the disk can't be written, the next read of the file reports the damage again.
        try? change { $0.damaged(bundle) }
    }

    // MARK: - State

    /// Changes the state, stores it and reports the decisions. A state that can't be stored does not change.
    ///
    /// - Parameter isUrgent: Whether the state of this process changes even if it can't be stored.
    func change(isUrgent: Bool = false, _ transition: (inout BundleState) -> [BundleRecord]) throws(BundleError) {
        let result: Result<[BundleRecord], BundleError> = shared.withLock { shared in
            var state = shared.state
            let records = transition(&state)
            do throws(BundleError) {
                if state != shared.state || shared.isUnstored { try folder.store(state) }
                (shared.state, shared.isUnstored) = (state, false)
                return .success(records)
            } catch {
                if isUrgent { (shared.state, shared.isUnstored) = (state, true) }
                return .failure(error)
            }
        }
        report(try result.get())
    }

    /// Passes records to the app, and the status to those who follow it.
    func report(_ records: [BundleRecord]) {
        for record in records { onRecord(record) }
        shared.withLock { shared in
            for reader in shared.readers.values { reader.yield(shared.status) }
        }
    }

    /// The present status.
    public var status: BundleStatus { shared.withLock { $0.status } }

    /// The present status, and then each new one, until the store is released or the reading task is cancelled. A slow
    /// reader receives the newest, and not the ones in between.
    public var statuses: AsyncStream<BundleStatus> {
        let (statuses, reader) = AsyncStream.makeStream(of: BundleStatus.self, bufferingPolicy: .bufferingNewest(1))
        let id = UUID()
        reader.onTermination = { [weak self] _ in
            _ = self?.shared.withLock { $0.readers.removeValue(forKey: id) }
        }
        shared.withLock { shared in
            reader.yield(shared.status)
            shared.readers[id] = reader
        }
        return statuses
    }
}

extension BundleStore.Shared {
    fileprivate var status: BundleStatus {
        var status = BundleStatus()
        (status.running, status.next, status.lastGood) = (running?.id, state.next, state.lastGood)
        (status.isStopped, status.isSwitchedOff) = (state.isStopped, state.isSwitchedOff)
        status.condemned = state.condemned[state.target]
        (status.progress, status.lastCheck, status.lastOutcome) = (progress, lastCheck?.date, lastCheck?.outcome)
        return status
    }

    /// The bundles whose files must stay: the installed ones, and those that this process still reads.
    var usedBundles: Set<BundleID> {
        state.installed.union(([running] + earlier.map(\.bundle)).compactMap { $0?.id })
    }
}
