import Foundation
import Runway
import RunwaySignatures
import RunwayTUF
import Synchronization

extension BundleStore {
    /// The time until a check that failed is repeated by ``run()``.
    private static let repetition = Duration.seconds(300)
    /// The minimum time between two checks of ``run()``, however many pokes arrive.
    private static let pokeGap = Duration.seconds(10)

    /// Checks now, and installs a new version if there is one. Calls at the same time share one check, which is
    /// cancelled when the task of the first one is cancelled.
    ///
    /// Call it also from a background refresh of the system.
    ///
    /// - Returns: The outcome: the record of the last decision.
    @discardableResult public func check() async -> BundleRecord { await check(handOver: nil) }

    /// Hands the missing files of a version over to the system, which downloads them while the app is suspended.
    typealias HandOver = @Sendable (_ missing: [BundleManifest.File], _ byteCount: Int64) async throws -> Void

    func check(handOver: HandOver?) async -> BundleRecord {
        let (task, isFirst) = shared.withLock { shared in
            if let checking = shared.checking { return (checking, false) }
            let task = Task {
                let outcome = await perform(handOver)
                sweep(after: outcome)
                self.shared.withLock { shared in
                    (shared.checking, shared.progress) = (nil, nil)
                    shared.lastCheck = (network.clock.date, outcome)
                }
                report([outcome])
                return outcome
            }
            shared.checking = task
            return (task, true)
        }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            if isFirst { task.cancel() }
        }
    }

    /// Checks now, by a timer, after a ``poke()``, and when the network changes after a check that could not end, until
    /// its task is cancelled.
    @concurrent public func run() async {
        let watching = Task { [network, signal, weak self] in
            for await _ in network.statuses where self?.isWaitingForNetwork == true { signal.yield() }
        }
        defer { watching.cancel() }
        var iterator = signals.makeAsyncIterator()
        while !Task.isCancelled {
            let outcome = await check()
            try? await network.clock.sleep(until: network.clock.now + Self.pokeGap)
            let interval = options.interval * Double.random(in: 0.9...1.1)
            let alarm = Task { [clock = network.clock, signal] in
                let wait = outcome.kind == .failed ? min(interval, Self.repetition) : interval
                try await clock.sleep(until: clock.now + wait)
                signal.yield()
            }
            _ = await iterator.next(isolation: #isolation)
            alarm.cancel()
        }
    }

    /// Makes ``run()`` check soon, for example because the server has sent an event. Nothing is trusted that came with
    /// it.
    public func poke() { signal.yield() }

    private var isWaitingForNetwork: Bool {
        shared.withLock { [.waiting, .failed].contains($0.lastCheck?.outcome.kind) }
    }

    // MARK: - The steps of a check

    @concurrent private func perform(_ handOver: HandOver?) async -> BundleRecord {
        do {
            return try await update(handOver)
        } catch let error as MetadataError {
            return BundleRecord(.refused, nil, refusal: error)
        } catch is NetworkNotAllowed {
            return BundleRecord(.waiting)
        } catch {
            return BundleRecord(.failed, nil, "\(error)")
        }
    }

    private func update(_ handOver: HandOver?) async throws -> BundleRecord {
        if options.downloads == .none { return BundleRecord(.switchedOff) }
        let seconds = Int64(network.clock.date.timeIntervalSince1970)
        let verified = try await updater.refresh(at: UnixTime(seconds: seconds))
        let found: TargetFile
        do {
            found = try await updater.target(target.path, in: verified)
        } catch let error as MetadataError where error.rule == .unknownTarget {
            return BundleRecord(.notPublished)
        }
        let release = try Self.reading(found.path) { () throws(MalformedMetadata) in try BundleRelease(found.custom) }
        guard let digest = found.digest.hashes["sha256"], Hexadecimal.bytes(digest)?.count == 32 else {
            throw MetadataError(found.path, .form, "4.5", "the target has no SHA-256")
        }
        let bundle = BundleID(version: release.version, digest: digest)
        try change(isUrgent: release.isStopped) { $0.stop(release.isStopped) }
        if let refusal = shared.withLock({ $0.state.refusal(of: bundle, release) }) {
            return refusal
        }
        let bytes = try await manifest(of: bundle, found, verified.fileName(of: found))
        let manifest = try manifest(bytes, of: bundle, found.path)
        guard options.downloads.allow(manifest) else {
            return BundleRecord(.refused, bundle, "It has scripts, which this app does not download.")
        }
        return try await install(bundle, manifest, handOver)
    }

    /// Returns the bytes of the manifest. They are stored at once, since a check that waits for another network would
    /// request them each time.
    private func manifest(of bundle: BundleID, _ found: TargetFile, _ name: String) async throws -> [UInt8] {
        if let stored = try? folder.manifestBytes(of: bundle), found.digest.matches(stored) { return stored }
        let length = Int(clamping: found.digest.length ?? Int64(BundleManifest.maximumByteCount))
        guard let bytes = try await targets.target(name, upTo: min(length, BundleManifest.maximumByteCount)) else {
            throw MetadataError(found.path, .absence, "5.7.3", "the repository has no \(name)")
        }
        guard found.digest.matches(bytes) else {
            throw MetadataError(found.path, .mixAndMatch, "5.7.3", "the targets list another length or hash")
        }
        try folder.store(bytes, of: bundle)
        return bytes
    }

    private func manifest(
        _ bytes: [UInt8], of bundle: BundleID, _ path: String
    ) throws(MetadataError) -> BundleManifest {
        let manifest = try Self.reading(path) { () throws(MalformedMetadata) in try BundleManifest(reading: bytes) }
        guard manifest.version == bundle.version else {
            throw MetadataError(path, .mixAndMatch, "5.7.3", "the manifest has version \(manifest.version)")
        }
        let total = manifest.files.reduce(Int64(0)) { $0.addingReportingOverflow($1.length).partialValue }
        guard manifest.files.allSatisfy({ $0.length <= options.maximumByteCount }), total <= options.maximumByteCount
        else { throw MetadataError(path, .length, "5.7.3", "its files have more bytes than the app allows") }
        return manifest
    }

    private func install(
        _ bundle: BundleID, _ manifest: BundleManifest, _ handOver: HandOver?
    ) async throws -> BundleRecord {
        folder.removeAll(but: shared.withLock { $0.usedBundles }, installing: (bundle, manifest))
        let installation = Installation(folder: folder, embedded: embedded, files: files, manifest: manifest)
        let missing = try installation.prepare()
        let byteCount = missing.reduce(0) { $0 + $1.length }
        if let handOver, !missing.isEmpty {
            try await handOver(missing, byteCount)
            return BundleRecord(.waiting, bundle, "\(missing.count) files were handed over to the system.")
        }
        if !missing.isEmpty { try await download(missing, byteCount, bundle, installation) }
        try folder.flush(manifest)
        try Task.checkCancellation()
        try change { state in
            _ = state.install(bundle)
            return []
        }
        shared.withLock { $0.hasRemains = true }
        return BundleRecord(.installed, bundle)
    }

    private func download(
        _ missing: [BundleManifest.File], _ total: Int64, _ bundle: BundleID, _ installation: Installation
    ) async throws {
        let isAllowed = { @Sendable [options] (status: NetworkStatus) in options.allows(total, on: status) }
        guard isAllowed(network.status) else { throw NetworkNotAllowed() }
        set(BundleStatus.Progress(bundle: bundle, completedByteCount: 0, totalByteCount: total))
        report([BundleRecord(.downloading, bundle, "\(missing.count) files of \(total) bytes.")])
        try await installation.download(missing, while: isAllowed) { [weak self] count in
            self?.set(BundleStatus.Progress(bundle: bundle, completedByteCount: count, totalByteCount: total))
        }
    }

    /// Removes what no bundle needs, unless a later check continues with it.
    private func sweep(after outcome: BundleRecord) {
        if [.waiting, .failed, .refused].contains(outcome.kind) { return }
        let used = shared.withLock { shared in
            defer { shared.hasRemains = false }
            return shared.hasRemains ? shared.usedBundles : nil
        }
        if let used { folder.removeAll(but: used) }
    }

    private func set(_ progress: BundleStatus.Progress) {
        shared.withLock { $0.progress = progress }
        report([])
    }

    private static func reading<Value>(
        _ path: String, _ read: () throws(MalformedMetadata) -> Value
    ) throws(MetadataError) -> Value {
        do throws(MalformedMetadata) { return try read() } catch {
            throw MetadataError(path, .form, "4.5", error.reason)
        }
    }
}
