/// A kind of function that scripts declare.
enum PointKind: String, Sendable {
    case patch, view
    case handler = "on"
}

/// One function of a script, by its kind and name.
struct PointKey: Hashable, Sendable, CustomStringConvertible {
    let kind: PointKind
    let name: String

    var description: String { "\(kind.rawValue) \(name)" }
}

/// Decides when a script loses a point: after three failures there, whenever they occur.
struct PointLedger: Sendable {
    static let maximumFailures = 3

    private struct Entry: Hashable {
        let bundle: String
        let key: PointKey
    }

    private var failures: [Entry: Int] = [:]

    func isClosed(_ key: PointKey, for bundle: String) -> Bool {
        failures[Entry(bundle: bundle, key: key), default: 0] >= Self.maximumFailures
    }

    func hasFailures(of bundle: String) -> Bool { failures.keys.contains { $0.bundle == bundle } }

    /// Counts a failure. Returns whether it closed the point.
    mutating func fail(_ key: PointKey, of bundle: String) -> Bool {
        failures[Entry(bundle: bundle, key: key), default: 0] += 1
        return failures[Entry(bundle: bundle, key: key)] == Self.maximumFailures
    }
}
