public import Runway
public import RunwayTUF

/// The record of one decision about the bundles of an app.
public struct BundleRecord: Sendable, Hashable, CustomStringConvertible {
    /// The kind of a decision. Later versions may add kinds.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        private enum Code: String {
            case nothingNew, notPublished, refused, failed, waiting, notIncluded, embeddedTooOld, older
            case condemnedBefore, switchedOff, downloading, installed, launched, ready, condemned, rolledBack, damaged
            case superseded, stopped, resumed, uncounted, invalidValue, unreadable
        }

        private let code: Code

        /// The kind in one word. It does not change between releases.
        public var description: String { code.rawValue }

        /// A check found the version that is installed already.
        public static let nothingNew = Kind(code: .nothingNew)
        /// The repository has no bundle for this channel and runtime version.
        public static let notPublished = Kind(code: .notPublished)
        /// Metadata or a file was refused: ``BundleRecord/refusal`` states the rule, and its section in The Update
        /// Framework; it is `nil` if ``Downloads`` does not allow a file.
        public static let refused = Kind(code: .refused)
        /// A check or a download failed because of the network or the disk. The next check repeats it.
        public static let failed = Kind(code: .failed)
        /// A version can be downloaded, and waits for a network that the policy allows.
        public static let waiting = Kind(code: .waiting)
        /// The device is not among those for which the version is meant now.
        public static let notIncluded = Kind(code: .notIncluded)
        /// The version is not for apps with an embedded copy as old as this one.
        public static let embeddedTooOld = Kind(code: .embeddedTooOld)
        /// The published version is not higher than the installed one, or than the embedded copy.
        public static let older = Kind(code: .older)
        /// The published version was condemned on this device, or is older than one that was.
        public static let condemnedBefore = Kind(code: .condemnedBefore)
        /// A version is published, and bundles are switched off on this device; or the app has ``Downloads/none``.
        public static let switchedOff = Kind(code: .switchedOff)
        /// A version is being downloaded.
        public static let downloading = Kind(code: .downloading)
        /// A version was installed, and will run from the next launch on.
        public static let installed = Kind(code: .installed)
        /// A bundle was chosen to run.
        public static let launched = Kind(code: .launched)
        /// The app has reported that the running bundle is ready.
        public static let ready = Kind(code: .ready)
        /// A bundle was launched twice without becoming ready, and will never run again.
        public static let condemned = Kind(code: .condemned)
        /// This bundle runs in the place of one that was condemned or damaged.
        public static let rolledBack = Kind(code: .rolledBack)
        /// Files of a bundle do not have the bytes that its manifest lists. The bundle can be downloaded again.
        public static let damaged = Kind(code: .damaged)
        /// An installed bundle will not run again, because the embedded copy of this app is at least as new, or because
        /// the app now has another channel or runtime version, or ``Downloads`` that do not allow its files.
        public static let superseded = Kind(code: .superseded)
        /// The kill switch is on: the embedded copy runs from the next launch on.
        public static let stopped = Kind(code: .stopped)
        /// The kill switch is off again.
        public static let resumed = Kind(code: .resumed)
        /// The launch of a bundle could not be counted, because the disk can't be read or written. A bundle that has
        /// never been ready does not run then.
        public static let uncounted = Kind(code: .uncounted)
        /// The file of values of the bundle, or one value in it, is invalid: the default of the binary is used.
        public static let invalidValue = Kind(code: .invalidValue)
        /// The stored state has another form, for example that of a later version of the app. It was put aside, and the
        /// store starts anew: condemned bundles and the local kill switch are forgotten.
        public static let unreadable = Kind(code: .unreadable)
    }

    /// The kind of the decision.
    public let kind: Kind
    /// The bundle that the decision is about; `nil` if it is about none.
    public let bundle: BundleID?
    /// The reason in one sentence; empty if the kind is the whole reason.
    public let detail: String
    /// The refusal of metadata or of a file; `nil` for all kinds but ``Kind/refused``.
    public let refusal: MetadataError?

    package init(_ kind: Kind, _ bundle: BundleID? = nil, _ detail: String = "", refusal: MetadataError? = nil) {
        (self.kind, self.bundle, self.detail, self.refusal) = (kind, bundle, detail, refusal)
    }

    /// All properties in one line.
    public var description: String {
        let parts = [kind.description, bundle?.description ?? "", refusal?.description ?? detail]
        return parts.filter { !$0.isEmpty }.joined(separator: " ")
    }
}

extension BundleRecord {
    /// The name and the properties with which an action log records the decision for the counts of the fleet; `nil` for
    /// decisions that are not counted.
    ///
    /// ```swift
    /// if let action = record.action { log.record(action.name, action.properties) }
    /// ```
    ///
    /// The properties name the bundle and nothing of the device.
    public var action: (name: String, properties: Parameters)? {
        guard let event = FleetEvent(rawValue: kind.description), let bundle, !bundle.isEmbedded else { return nil }
        return (FleetEvent.name, ["event": .string(event.rawValue), "bundle": .string(bundle.description)])
    }
}
