import Runway
import RunwayTUF

/// A repository of bundles, and which of its bundles an app runs.
public struct BundleSource: Sendable {
    /// The URL of the repository, below which are `metadata/`, `targets/` and `files/`.
    public var url: String
    /// The bytes of a root of the repository, from which everything else is verified: `metadata/1.root.json` or a later
    /// one.
    public var root: [UInt8]
    /// The name of the bundle.
    public var bundle: String
    /// The channel, such as `beta`. The default is `release`. An app with another channel than before starts with its
    /// embedded copy.
    public var channel: String
    /// The version of what the app offers to its pages and scripts. The default is `1`. A bundle runs only in an app
    /// with the runtime version for which it was published.
    public var runtime: String

    /// Names have ASCII letters, digits, `-`, `_` and `.` only, and at most 64 of them.
    public init(_ url: String, root: [UInt8], bundle: String, channel: String = "release", runtime: String = "1") {
        (self.url, self.root, self.bundle, self.channel, self.runtime) = (url, root, bundle, channel, runtime)
    }

    /// - Throws: ``BundleError/Kind/invalid``.
    func parts(
        on network: NetworkLayer
    ) throws(BundleError) -> (
        target: BundleTarget, metadata: RepositoryNetwork, targets: RepositoryNetwork, files: RepositoryNetwork
    ) {
        let base = url.hasSuffix("/") ? url : "\(url)/"
        guard let metadata = RepositoryNetwork(base + "metadata", on: network),
            let targets = RepositoryNetwork(base + "targets", on: network),
            let files = RepositoryNetwork(base + "files", on: network)
        else { throw BundleError(.invalid, "\(url) is no URL of a repository.") }
        guard let target = BundleTarget(bundle: bundle, channel: channel, runtime: runtime) else {
            throw BundleError(.invalid, "A name of the bundle, the channel or the runtime version is invalid.")
        }
        return (target, metadata, targets, files)
    }
}
