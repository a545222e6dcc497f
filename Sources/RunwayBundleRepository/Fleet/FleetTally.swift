import RunwayJSON
package import RunwayTUF

/// Counts what became of one version of a bundle, from the records of an action log.
///
/// Records name no device, so that they are counted, and not devices. A device that installs a damaged version again
/// records it again, and each launch that becomes ready is one record. The numbers are only as true as the senders.
package struct FleetTally: Sendable {
    private let bundle: String
    private var counts: [FleetEvent: Int] = [:]

    /// - Parameters:
    ///   - version: The version of the manifest.
    ///   - sha256: The SHA-256 digest of the manifest.
    package init(of version: Int64, _ sha256: String) { bundle = FleetEvent.bundle(version, sha256) }

    /// Counts one record, a JSON object as a server's action log stores it. Other records are ignored.
    package mutating func add(_ record: [UInt8]) {
        guard let root = try? JSONDocument(record).root, root["name"].isString(FleetEvent.name),
            root["properties"]["bundle"].isString(bundle),
            let event = root["properties"]["event"].string.flatMap(FleetEvent.init)
        else { return }
        counts[event, default: 0] += 1
    }

    /// The number of records of an event.
    package subscript(event: FleetEvent) -> Int { counts[event, default: 0] }

    /// Returns whether the roll-out has to pause.
    ///
    /// - Parameters:
    ///   - percentage: The percentage of the records of installations above which those of condemnations pause it.
    ///   - minimum: The number of condemnations below which nothing is decided: the first device must not decide for
    ///     all. One device that sends as many records decides.
    package func exceeds(_ percentage: Double, atLeast minimum: Int) -> Bool {
        self[.condemned] >= minimum && Double(self[.condemned]) * 100 > Double(self[.installed]) * percentage
    }

    /// The counts and the rate in words.
    package var sentence: String {
        let installed = self[.installed]
        let rate = installed > 0 ? (Double(self[.condemned]) * 10_000 / Double(installed)).rounded() / 100 : 0
        return "\(bundle): \(installed) installed, \(self[.ready]) ready, \(self[.condemned]) condemned (\(rate) %)"
    }
}
