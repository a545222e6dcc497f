import Runway

extension DemoReport: CustomStringConvertible {
    /// The most lines of a screen that the text shows.
    private static let maximumScreenLines = 9

    /// The report as a person reads it: the screens, every call, the totals.
    public var description: String {
        var lines: [String] = []
        for scene in scenes {
            lines.append("— \(scene.title)")
            let hidden = max(0, scene.screen.count - Self.maximumScreenLines)
            lines += scene.screen.prefix(Self.maximumScreenLines).map { "    \($0)" }
            if hidden > 0 { lines.append("    … and \(hidden) more") }
            lines.append("")
        }
        lines.append("— Every call, its decisions and its duration")
        lines += flights.map(\.description)
        if !envelopes.isEmpty {
            lines += ["", "— Requests that carried several calls"] + envelopes.map(\.description)
        }
        lines += ["", "— Totals"] + totals.map { "    \($0)" }
        if let signing { lines += ["", signing.description] }
        if let hosts { lines += ["", hosts.description] }
        if let log { lines += ["", "— \(DemoPart.log.action)", "    \(log)"] }
        if let train {
            lines += ["", "— \(DemoPart.train.action)"] + (train.screen + ["\(train)"]).map { "    \($0)" }
        }
        if let chat {
            lines += ["", "— \(DemoPart.chat.action)"] + (chat.screen + ["\(chat)"]).map { "    \($0)" }
        }
        if !problems.isEmpty {
            lines += ["", "— Not as it should be"] + problems.map { "    \($0)" }
        }
        return lines.joined(separator: "\n")
    }

    /// The number of calls compared with that of requests sent, and why they differ.
    private var totals: [String] {
        let reasons = UnsentReason.allCases.map { (callsNotSent[$0] ?? 0, $0.reason) }
        let repetitions = Repetition.allCases.map { (requestsRepeated[$0] ?? 0, $0.reason) }
        let envelopeRequests = envelopes.reduce(0) { $0 + $1.attempts.count }
        let parts = [(callsSent, "the first of a call")] + repetitions + [(envelopeRequests, "for several calls")]
        return ["calls: \(calls)", Self.part(callsSent, "sent")] + reasons.compactMap(Self.part)
            + ["requests on the wire: \(requestsOnTheWire)"] + parts.compactMap(Self.part) + ["bytes: \(bytes)"]
    }

    /// A line of a sum.
    private static func part(_ count: Int, _ what: String) -> String {
        let digits = String(count)
        return String(repeating: " ", count: max(0, 6 - digits.count)) + digits + "  " + what
    }

    private static func part(_ counted: (count: Int, what: String)) -> String? {
        counted.count > 0 ? part(counted.count, counted.what) : nil
    }
}
