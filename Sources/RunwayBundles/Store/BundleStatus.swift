public import Foundation
import Runway

/// The bundles of an app and what happens with them now, for a screen of settings.
public struct BundleStatus: Sendable, Hashable {
    /// The progress of a download.
    public struct Progress: Sendable, Hashable {
        /// The version that is being downloaded.
        public let bundle: BundleID
        /// The number of bytes that have arrived in this attempt. Files that are here already do not count.
        public var completedByteCount: Int64
        /// The number of bytes that this attempt needs.
        public let totalByteCount: Int64
    }

    /// The bundle that the process runs; `nil` before the first access to ``BundleStore/running``.
    public internal(set) var running: BundleID?
    /// The bundle that runs from the next launch on; `nil` if it is the running one.
    public internal(set) var next: BundleID?
    /// The bundle that returns if the current one fails; `nil` for the embedded copy.
    public internal(set) var lastGood: BundleID?
    /// The condemned bundle of the highest version.
    public internal(set) var condemned: BundleID?
    /// Whether the server's kill switch is on.
    public internal(set) var isStopped = false
    /// Whether ``BundleStore/switchOff(_:)`` has switched bundles off.
    public internal(set) var isSwitchedOff = false
    /// The download in progress; `nil` if there is none.
    public internal(set) var progress: Progress?
    /// The end of the last check in this process, by the device's clock.
    public internal(set) var lastCheck: Date?
    /// The outcome of that check.
    public internal(set) var lastOutcome: BundleRecord?
}

/// The settings of a ``BundleStore``.
public struct BundleOptions: Sendable, Hashable {
    /// The time between two checks of ``BundleStore/run()``. The default is an hour. Each wait is up to a tenth shorter
    /// or longer, so that the devices of a fleet do not check at the same time.
    public var interval = Duration.seconds(3_600)
    /// The maximum number of bytes of files that one version may cost on an expensive network, such as a mobile one.
    /// The default is 1 MiB; 0 downloads files over Wi-Fi and wires only. Metadata, some kilobytes, does not count, nor
    /// does the manifest, which has about 100 bytes for each file and is requested once for a version.
    public var maximumExpensiveByteCount: Int64 = 1 << 20
    /// The same for networks in Low Data Mode. The default is 0.
    public var maximumConstrainedByteCount: Int64 = 0
    /// The maximum length of all files of one version. The default is 512 MiB. A larger version is not installed.
    public var maximumByteCount: Int64 = 512 << 20

    /// Limits the content of installed bundles. The default is ``Downloads/viewsAndScripts``. A bundle that an earlier
    /// build of the app has installed runs only if this build allows it.
    public var downloads = Downloads.viewsAndScripts

    /// Creates the default settings.
    public init() {}

    /// Returns whether files of this total length may be downloaded over a network. While there is no network, the
    /// layer's calls fail.
    func allows(_ byteCount: Int64, on status: NetworkStatus) -> Bool {
        (!status.isExpensive || byteCount <= maximumExpensiveByteCount)
            && (!status.isConstrained || byteCount <= maximumConstrainedByteCount)
    }
}
