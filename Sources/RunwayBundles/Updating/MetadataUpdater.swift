import Foundation
import Runway
package import RunwaySignatures
package import RunwayTUF

/// Updates the metadata of a repository by the client workflow of The Update Framework (§5), and finds targets in it.
///
/// Every accepted document is stored before the next one is requested, so that the next update continues where one was
/// interrupted. Targets are returned only by an update that was complete. ``TrustedMetadata`` decides; this type reads,
/// requests and stores.
package actor MetadataUpdater {
    /// Returns a file of the repository by its name below the base URL, of at most so many bytes; `nil` if the
    /// repository does not have it. The name is not escaped.
    package typealias Fetch = @Sendable (_ name: String, _ maximumByteCount: Int) async throws -> [UInt8]?

    private let folder: MetadataFolder
    private let embeddedRoot: [UInt8]?
    private let limits: UpdateLimits
    private let fetch: Fetch
    /// The update in progress, which later callers join.
    private var running: Task<VerifiedTargets, any Error>?
    /// The last complete update. What it has verified is not verified again while the root stays the same.
    private var last: VerifiedTargets?

    /// - Parameters:
    ///   - folder: The metadata of earlier updates.
    ///   - embeddedRoot: The root that came with the app. It replaces an older stored one. `nil` if the folder has a
    ///     root already.
    ///   - limits: The limits of each update.
    ///   - fetch: Requests a file from the repository.
    package init(
        _ folder: MetadataFolder, embeddedRoot: [UInt8]?, limits: UpdateLimits = UpdateLimits(),
        fetch: @escaping Fetch
    ) {
        (self.folder, self.embeddedRoot, self.limits, self.fetch) = (folder, embeddedRoot, limits, fetch)
    }

    /// Updates the top-level metadata. A second caller joins an update in progress. Cancelling the first cancels both.
    ///
    /// - Parameter deviceTime: The time of the device's clock. Metadata expires by the later one of it and of the last
    ///   complete update.
    /// - Throws: ``MetadataError`` if the repository is refused, or the errors of the network or of the disk.
    package func refresh(at deviceTime: UnixTime) async throws -> VerifiedTargets {
        if let running { return try await running.value }
        let task = Task {
            defer { running = nil }
            return try await update(at: deviceTime)
        }
        running = task
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Returns a target of an update (§5.6.7). Downloads metadata of delegated roles as far as the search needs it.
    ///
    /// - Throws: ``MetadataError`` with ``MetadataError/Rule/unknownTarget`` if no role lists it, or if a role on the
    ///   way is refused; or the errors of the network or of the disk.
    package func target(_ path: String, in verified: VerifiedTargets) async throws -> TargetFile {
        var search = TargetSearch(for: path, in: verified.trusted)
        // The search begins with the top-level targets, which the update has read.
        if search.next() != nil { search.visit(verified.targets.content) }
        while let role = search.next() {
            search.visit(try await targets(of: role, in: verified.trusted).content)
        }
        guard let target = search.target else {
            throw MetadataError(path, .unknownTarget, "5.7.2", "no role lists this target")
        }
        return target
    }

    // MARK: - The steps of an update

    private func update(at deviceTime: UnixTime) async throws -> VerifiedTargets {
        let startTime = max(deviceTime, folder.lastUpdate ?? deviceTime)
        var trusted = try trustedRoot(at: startTime)
        try await updateRoot(&trusted)
        try await updateTimestamp(&trusted)
        try await updateSnapshot(&trusted)
        let targets = try await targets(of: trusted.topLevelTargets, in: trusted)
        try folder.store(lastUpdate: startTime)
        let verified = VerifiedTargets(trusted: trusted, targets: targets)
        last = verified
        return verified
    }

    /// Starts with the newest of the stored and the embedded root (§5.2).
    private func trustedRoot(at time: UnixTime) throws -> TrustedMetadata {
        let stored = folder.read("root", upTo: limits.rootByteCount)
        if let last, last.trusted.root.document.bytes == stored ?? embeddedRoot {
            return TrustedMetadata(after: last.trusted, last.targets, at: time)
        }
        guard let embeddedRoot else {
            return try TrustedMetadata(root: stored ?? [], at: time, limits: limits)
        }
        let embedded = try TrustedMetadata(root: embeddedRoot, at: time, limits: limits)
        guard let stored, let other = try? TrustedMetadata(root: stored, at: time, limits: limits),
            other.root.version >= embedded.root.version
        else { return embedded }
        return other
    }

    private func updateRoot(_ trusted: inout TrustedMetadata) async throws {
        for _ in 0..<limits.rootRotations {
            let name = "\(trusted.root.version + 1).root.json"
            guard let bytes = try await fetch(name, limits.rootByteCount),
                case .accepted(let hasRotated) = try trusted.updateRoot(bytes)
            else { return }
            if hasRotated { for role in ["timestamp", "snapshot"] { try folder.remove(role) } }
            try folder.store(bytes, as: "root")
        }
    }

    private func updateTimestamp(_ trusted: inout TrustedMetadata) async throws {
        if let stored = folder.read("timestamp", upTo: limits.timestampByteCount) {
            // A timestamp that the root's keys no longer sign is replaced.
            try? trusted.load(timestamp: stored)
        }
        let bytes = try await required("timestamp.json", limits.timestampByteCount, "timestamp", "5.4.1")
        if try trusted.updateTimestamp(bytes) { try folder.store(bytes, as: "timestamp") }
    }

    private func updateSnapshot(_ trusted: inout TrustedMetadata) async throws {
        if let stored = folder.read("snapshot", upTo: limits.snapshotByteCount),
            (try? trusted.load(snapshot: stored)) == true
        {
            return
        }
        let file = trusted.snapshotFile
        let bytes = try await required(
            name("snapshot", file, trusted), limit(limits.snapshotByteCount, file), "snapshot", "5.5.1")
        try trusted.updateSnapshot(bytes)
        try folder.store(bytes, as: "snapshot")
    }

    private func targets(
        of role: TargetsRole, in trusted: TrustedMetadata
    ) async throws -> Metadata<TargetsContent> {
        if let stored = folder.read(role.name, upTo: limits.targetsByteCount),
            let targets = try? trusted.targets(stored, of: role)
        {
            return targets
        }
        let file = try trusted.file(of: role)
        let bytes = try await required(
            name(role.name, file, trusted), limit(limits.targetsByteCount, file), role.name, "5.6.1")
        let targets = try trusted.targets(bytes, of: role)
        try folder.store(bytes, as: role.name)
        return targets
    }

    private func name(_ role: String, _ file: MetadataFile, _ trusted: TrustedMetadata) -> String {
        (trusted.root.content.hasConsistentSnapshots ? "\(file.version)." : "") + "\(role).json"
    }

    private func limit(_ maximum: Int, _ file: MetadataFile) -> Int {
        min(maximum, file.digest.length.map { Int(clamping: $0) } ?? maximum)
    }

    private func required(
        _ name: String, _ maximumByteCount: Int, _ role: String, _ section: String
    ) async throws -> [UInt8] {
        guard let bytes = try await fetch(name, maximumByteCount) else {
            throw MetadataError(role, .absence, section, "the repository has no \(name)")
        }
        return bytes
    }
}

/// The result of a complete update: the top-level targets, and the metadata for the search in delegated roles.
package struct VerifiedTargets: Sendable {
    package let trusted: TrustedMetadata
    package let targets: Metadata<TargetsContent>

    /// Returns the name of a target's file below the base URL of targets (§5.7.3).
    package func fileName(of target: TargetFile) -> String {
        guard trusted.root.content.hasConsistentSnapshots,
            let hash = target.digest.hashes["sha256"] ?? target.digest.hashes["sha512"]
        else { return target.path }
        let parts = target.path.split(separator: "/", omittingEmptySubsequences: false)
        return (parts.dropLast() + ["\(hash).\(parts.last ?? "")"]).joined(separator: "/")
    }
}
