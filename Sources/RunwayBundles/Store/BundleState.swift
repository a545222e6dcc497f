import RunwayTUF

/// The bundles that a device has installed, and which of them runs. Pure: every transition is a function of the state
/// and its parameters, and returns the decisions that it made.
///
/// At most three bundles are installed: the current one, the next one, which replaces it at the next launch, and the
/// last good one, which had become ready and was replaced. Without any of them the embedded copy runs. It is never
/// condemned, so that there is always a bundle to run.
struct BundleState: Sendable, Hashable, Codable {
    /// The number of launches without a report of readiness after which a bundle is condemned.
    static let launchesUntilCondemned = 2

    /// The bundle that runs, with its launches.
    struct Current: Sendable, Hashable, Codable {
        let bundle: BundleID
        /// The number of launches since the bundle was last reported as ready.
        var launchCount = 0
        /// Whether the bundle has been reported as ready, at least once.
        var hasBeenReady = false
    }

    /// The random identifier by which roll-outs choose devices. It leaves the device in no request.
    let device: String
    /// The target whose bundles are installed: the path has the names of bundle, channel and runtime version.
    private(set) var target = ""
    /// The version of the app's embedded copy.
    private(set) var embedded: Int64 = 0
    /// The highest version of all embedded copies that this installation of the app has had.
    private(set) var floor: Int64 = 0
    private(set) var current: Current?
    private(set) var next: BundleID?
    private(set) var lastGood: BundleID?
    /// For each target, the condemned bundle with the highest version. Older versions are not installed either.
    private(set) var condemned: [String: BundleID] = [:]
    /// Whether the server's kill switch is on.
    private(set) var isStopped = false
    /// Whether the local kill switch is on.
    private(set) var isSwitchedOff = false

    init(device: String) { self.device = device }

    /// The bundle that runs; `nil` for the embedded copy.
    var running: BundleID? { isStopped || isSwitchedOff ? nil : current?.bundle }

    /// The bundle that may run if its launch can't be counted: only one that has been ready before, since nothing would
    /// end a series of failures. `nil` for the embedded copy.
    var runningUncounted: BundleID? {
        guard let running else { return nil }
        return current?.hasBeenReady == true ? running : lastGood
    }

    /// The installed bundles, whose files must stay.
    var installed: Set<BundleID> { Set([current?.bundle, next, lastGood].compactMap { $0 }) }

    // MARK: - Launching

    /// Begins the use by a process, before any other transition.
    ///
    /// - Parameters:
    ///   - target: The path of the target.
    ///   - embedded: The version of the app's embedded copy.
    mutating func open(_ target: String, over embedded: Int64) -> [BundleRecord] {
        var records: [BundleRecord] = []
        let isOther = target != self.target
        if isOther { isStopped = false }
        (self.target, self.embedded, floor) = (target, embedded, max(floor, embedded))
        for bundle in installed.sorted(by: { $0.version < $1.version }) where isOther || bundle.version <= floor {
            remove(bundle)
            records.append(BundleRecord(.superseded, bundle))
        }
        return records
    }

    /// Chooses the bundle that runs from now on, and counts its launch.
    ///
    /// - Parameter obstacle: Returns why an installed bundle can't run, as the kind of its record; `nil` if it can.
    /// - Throws: The error of `obstacle`. The state has no launch then, and must not be stored.
    mutating func launch<Failure: Error>(
        obstacle: (BundleID) throws(Failure) -> BundleRecord.Kind?
    ) throws(Failure) -> [BundleRecord] {
        var records: [BundleRecord] = []
        if !isStopped, !isSwitchedOff {
            promote()
            records += try rollBack(by: obstacle)
            current?.launchCount += 1
        }
        return records + [BundleRecord(.launched, running ?? BundleID(embedded: embedded))]
    }

    private mutating func promote() {
        guard let next else { return }
        if let current, current.hasBeenReady { lastGood = current.bundle }
        (current, self.next) = (Current(bundle: next), nil)
    }

    /// Replaces the current bundle while it has failed too often, or can't run.
    private mutating func rollBack<Failure: Error>(
        by obstacle: (BundleID) throws(Failure) -> BundleRecord.Kind?
    ) throws(Failure) -> [BundleRecord] {
        var records: [BundleRecord] = []
        while let current {
            let bundle = current.bundle
            if current.launchCount >= Self.launchesUntilCondemned {
                if condemned[target].map({ $0.version < bundle.version }) ?? true { condemned[target] = bundle }
                records.append(
                    BundleRecord(.condemned, bundle, "It did not become ready in \(current.launchCount) launches."))
                remove(bundle)
                if let good = self.current?.bundle { records.append(BundleRecord(.rolledBack, good)) }
            } else if let kind = try obstacle(bundle) {
                records += damaged(bundle, as: kind)
            } else {
                break
            }
        }
        return records
    }

    /// Removes a bundle. If it is the current one, the last good one takes its place.
    private mutating func remove(_ bundle: BundleID) {
        if next == bundle { next = nil }
        if lastGood == bundle { lastGood = nil }
        if current?.bundle == bundle {
            current = lastGood.map { Current(bundle: $0, hasBeenReady: true) }
            lastGood = nil
        }
    }

    /// Removes a bundle of which a file is absent or has other bytes, or that can't run for another reason. The same
    /// version can be installed again.
    mutating func damaged(_ bundle: BundleID, as kind: BundleRecord.Kind = .damaged) -> [BundleRecord] {
        guard installed.contains(bundle) else { return [] }
        let wasCurrent = current?.bundle == bundle
        remove(bundle)
        let good = wasCurrent ? current?.bundle : nil
        return [BundleRecord(kind, bundle)] + (good.map { [BundleRecord(.rolledBack, $0)] } ?? [])
    }

    /// Records that a bundle is ready. Changes nothing if another one runs: a page of it may be late.
    mutating func ready(_ bundle: BundleID) -> [BundleRecord] {
        guard running == bundle, var current, current.launchCount > 0 else { return [] }
        (current.launchCount, current.hasBeenReady) = (0, true)
        self.current = current
        return [BundleRecord(.ready, bundle)]
    }

    // MARK: - Installing

    /// Decides about a published version.
    ///
    /// - Parameters:
    ///   - bundle: The published version.
    ///   - release: The terms of the version.
    /// - Returns: The reason not to install it; `nil` if it has to be installed.
    func refusal(of bundle: BundleID, _ release: BundleRelease) -> BundleRecord? {
        if release.isStopped { return BundleRecord(.stopped, bundle) }
        if installed.contains(bundle) { return BundleRecord(.nothingNew, bundle) }
        if let condemned = condemned[target], bundle.version <= condemned.version {
            return BundleRecord(.condemnedBefore, bundle)
        }
        let newest = max(floor, current?.bundle.version ?? 0, next?.version ?? 0)
        guard bundle.version > newest else {
            return BundleRecord(bundle.version == newest ? .nothingNew : .older, bundle, "Version \(newest) is here.")
        }
        if isSwitchedOff { return BundleRecord(.switchedOff, bundle) }
        if embedded < release.floor {
            return BundleRecord(.embeddedTooOld, bundle, "It needs an embedded copy of version \(release.floor).")
        }
        return release.rollout.includes(device) ? nil : BundleRecord(.notIncluded, bundle)
    }

    /// Records that all files of a bundle are on the disk: it is the next one.
    ///
    /// The caller has asked ``refusal(of:_:)`` before.
    mutating func install(_ bundle: BundleID) -> [BundleRecord] {
        next = bundle
        return [BundleRecord(.installed, bundle)]
    }

    // MARK: - Kill switches

    /// Turns the server's kill switch on or off. While it is on, ``refusal(of:_:)`` reports it.
    mutating func stop(_ isStopped: Bool) -> [BundleRecord] {
        defer { self.isStopped = isStopped }
        return self.isStopped && !isStopped ? [BundleRecord(.resumed)] : []
    }

    /// Turns the local kill switch on or off.
    mutating func switchOff(_ isSwitchedOff: Bool) -> [BundleRecord] {
        guard isSwitchedOff != self.isSwitchedOff else { return [] }
        self.isSwitchedOff = isSwitchedOff
        return [BundleRecord(isSwitchedOff ? .stopped : .resumed, nil, "Switched on this device.")]
    }
}
