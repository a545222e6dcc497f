package import RunwaySignatures

/// The metadata that a client trusts during one update: the client workflow of The Update Framework 1.0 (§5) without
/// network and disk.
///
/// Pass the bytes of each role in the order of the workflow: roots, timestamp, snapshot, targets, delegations. A
/// function either accepts the bytes or throws and changes nothing. The caller stores what was accepted.
///
/// The section in each comment and error is that of the specification.
package struct TrustedMetadata: Sendable {
    /// The time at which the update began, with which every expiry is compared (§5.1).
    package let startTime: UnixTime
    package let limits: UpdateLimits
    package internal(set) var root: Metadata<RootContent>
    package internal(set) var timestamp: Metadata<TimestampContent>?
    package internal(set) var snapshot: Metadata<SnapshotContent>?
    /// Whether the snapshot is the one that the timestamp lists, rather than an older one for comparison.
    var isSnapshotCurrent = false
    /// The documents whose form and signatures were verified with the keys of ``root``.
    var known = KnownDocuments()

    /// Starts with the root that the client trusts (§5.2). Its expiry does not matter yet.
    ///
    /// - Parameters:
    ///   - root: The bytes of the stored root, or of the one that came with the app.
    ///   - startTime: The time of the update.
    ///   - limits: The limits of the update.
    package init(root: [UInt8], at startTime: UnixTime, limits: UpdateLimits = UpdateLimits()) throws(MetadataError) {
        let root: Metadata<RootContent> = try Self.read(root, "root", "5.2", limits.rootByteCount)
        try Self.verify(root.document, "root", root.content.keys, root.content[.root], "5.2")
        (self.root, self.startTime, self.limits) = (root, startTime, limits)
    }

    /// Starts another update with the root of an earlier one, which the client still trusts.
    ///
    /// - Parameters:
    ///   - earlier: The earlier update.
    ///   - targets: Its top-level targets.
    ///   - startTime: The time of the update.
    package init(after earlier: TrustedMetadata, _ targets: Metadata<TargetsContent>, at startTime: UnixTime) {
        (root, limits, known) = (earlier.root, earlier.limits, earlier.known)
        self.startTime = startTime
        known.targets = targets
    }

    // MARK: - Root

    /// Accepts the next version of the root (§5.3.4–5.3.7).
    ///
    /// Returns ``RootUpdate/unchanged`` for the trusted version: the client then continues with the timestamp (§5.3.5).
    package mutating func updateRoot(_ bytes: [UInt8]) throws(MetadataError) -> RootUpdate {
        precondition(timestamp == nil, "the root comes before the timestamp")
        let new: Metadata<RootContent> = try Self.read(bytes, "root", "5.3.4", limits.rootByteCount)
        try Self.verify(new.document, "root", root.content.keys, root.content[.root], "5.3.4")
        try Self.verify(new.document, "root", new.content.keys, new.content[.root], "5.3.4")
        if new.version == root.version { return .unchanged }
        guard new.version == root.version + 1 else {
            throw MetadataError("root", .rollback, "5.3.5", "version \(new.version) follows version \(root.version)")
        }
        let hasRotated = [TopLevelRole.timestamp, .snapshot].contains { root.content[$0] != new.content[$0] }
        (root, known) = (new, KnownDocuments())
        return .accepted(hasRotated: hasRotated)
    }

    // MARK: - Timestamp

    /// Takes the timestamp that an earlier update accepted, for comparison. Throws if it is no longer signed by the
    /// root's keys; the caller then continues without it.
    package mutating func load(timestamp bytes: [UInt8]) throws(MetadataError) {
        timestamp = try read(bytes, .timestamp, \.timestamp, "5.4.2", limits.timestampByteCount)
    }

    /// Accepts the timestamp of the repository (§5.3.10, §5.4.2–5.4.4).
    ///
    /// - Returns: `false` if its version is the trusted one, which then stays (§5.4.3.1).
    package mutating func updateTimestamp(_ bytes: [UInt8]) throws(MetadataError) -> Bool {
        try checkExpiry(of: root, "root", "5.3.10")
        let new = try read(bytes, .timestamp, \.timestamp, "5.4.2", limits.timestampByteCount)
        if let trusted = timestamp {
            guard new.version >= trusted.version else {
                throw MetadataError(
                    "timestamp", .rollback, "5.4.3.1", "version \(new.version) is lower than \(trusted.version)")
            }
            if new.version == trusted.version {
                try checkExpiry(of: trusted, "timestamp", "5.4.4")
                return false
            }
            let (old, listed) = (trusted.content.snapshot.version, new.content.snapshot.version)
            guard listed >= old else {
                throw MetadataError("timestamp", .rollback, "5.4.3.2", "it lists snapshot \(listed) after \(old)")
            }
        }
        try checkExpiry(of: new, "timestamp", "5.4.4")
        timestamp = new
        return true
    }

    // MARK: - Snapshot

    /// Takes the snapshot that an earlier update accepted. Throws if it is no longer signed by the root's keys; the
    /// caller then continues without it.
    ///
    /// - Returns: Whether it is the one that the timestamp lists, so that no other one need be downloaded.
    package mutating func load(snapshot bytes: [UInt8]) throws(MetadataError) -> Bool {
        snapshot = try read(bytes, .snapshot, \.snapshot, "5.5.3", limits.snapshotByteCount)
        isSnapshotCurrent = false
        guard let current = try? current(snapshot: bytes) else { return false }
        (snapshot, isSnapshotCurrent) = (current, true)
        return true
    }

    /// The version and limit with which to download the snapshot (§5.5.1).
    package var snapshotFile: MetadataFile { requiredTimestamp.content.snapshot }

    /// Accepts the snapshot that the timestamp lists (§5.5.2–5.5.6).
    package mutating func updateSnapshot(_ bytes: [UInt8]) throws(MetadataError) {
        let new = try current(snapshot: bytes)
        for (name, old) in snapshot?.content.files ?? [:] {
            guard let file = new.content.files[name] else {
                throw MetadataError("snapshot", .rollback, "5.5.5", "it no longer lists \(name.text)")
            }
            guard file.version >= old.version else {
                throw MetadataError(
                    "snapshot", .rollback, "5.5.5", "it lists \(name.text) \(file.version) after \(old.version)")
            }
        }
        (snapshot, isSnapshotCurrent) = (new, true)
    }

    /// Reads a snapshot, and checks it against the timestamp, the root's keys and the time.
    private mutating func current(snapshot bytes: [UInt8]) throws(MetadataError) -> Metadata<SnapshotContent> {
        let file = snapshotFile
        guard file.digest.matches(bytes) else {
            throw MetadataError("snapshot", .mixAndMatch, "5.5.2", "the timestamp lists another length or hash")
        }
        let new = try read(bytes, .snapshot, \.snapshot, "5.5.3", limits.snapshotByteCount)
        guard new.version == file.version else {
            throw MetadataError(
                "snapshot", .mixAndMatch, "5.5.4", "version \(new.version), the timestamp lists \(file.version)")
        }
        try checkExpiry(of: new, "snapshot", "5.5.6")
        return new
    }

    private var requiredTimestamp: Metadata<TimestampContent> {
        guard let timestamp else { preconditionFailure("the timestamp comes before the snapshot") }
        return timestamp
    }
}

/// The result of a root that was not refused.
package enum RootUpdate: Sendable, Hashable {
    /// The root has the trusted version, and was discarded.
    case unchanged
    /// The root is trusted now. If the keys of the timestamp or of the snapshot have rotated, the stored metadata of
    /// both roles must be removed before the root is stored, to recover from a fast-forward attack (§5.3.11).
    case accepted(hasRotated: Bool)
}
