public import Runway

/// What a played session showed, and what became of every call.
public struct DemoReport: Sendable, Encodable {
    /// One thing that the user did, and what was on the screen after it.
    public struct Scene: Sendable, Encodable {
        /// What the user did.
        public var title: String
        /// The screen, line by line.
        public var screen: [String]
    }

    /// What the backend's listings were made from.
    public var seed: UInt64
    /// Calls that were asked for, whatever became of them.
    public var calls: Int
    /// Requests that went to the transport.
    public var requestsOnTheWire: Int
    /// Bytes of the bodies of all answers that came in whole.
    public var bytes: Int
    /// What the user did and saw.
    public var scenes: [Scene]
    /// The record of every call, in the order of asking.
    public var flights: [FlightRecord]
    /// What was not as it should be; empty where all was well.
    public var problems: [String]
}

extension DemoReport: CustomStringConvertible {
    /// The report as a person reads it: the screens, every call, the totals.
    public var description: String {
        var lines: [String] = []
        for scene in scenes {
            lines.append("— \(scene.title)")
            lines += scene.screen.map { "    \($0)" }
            lines.append("")
        }
        lines.append("— Every call, what was decided and how long it took")
        lines += flights.map(\.description)
        lines += [
            "", "— Totals", "    calls: \(calls)", "    requests on the wire: \(requestsOnTheWire)",
            "    bytes: \(bytes)",
        ]
        if !problems.isEmpty {
            lines += ["", "— Not as it should be"] + problems.map { "    \($0)" }
        }
        return lines.joined(separator: "\n")
    }
}
