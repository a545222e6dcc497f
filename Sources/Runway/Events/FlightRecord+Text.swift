import HTTPTypes

extension FlightRecord: CustomStringConvertible {
    /// Describes the call in one line: name, outcome, duration, number of requests, and number of received bytes.
    public var summary: String {
        var text = "\(id) \(service) \(endpoint) \(outcome.name)"
        if let error = outcome.error { text += ": \(error)" }
        if let error = outcome.serviceError { text += ": \(error)" }
        if let running = outcome.runningFlight {
            text +=
                outcome.kind == .joined
                ? " \(running), which is in flight already" : ": \(running) is in flight already"
        }
        if let change = outcome.queuedChange { text += " as \(change)" }
        text += " after \(duration.text)"
        switch attempts.count {
        case 0: text += ", nothing sent"
        case 1: text += ", 1 request"
        default: text += ", \(attempts.count) requests"
        }
        if let byteCount = attempts.last?.responseByteCount { text += ", \(byteCount) bytes" }
        return text.oneLine
    }

    /// The summary, followed by a line for every request and every decision.
    public var description: String {
        var lines: [(elapsed: Duration, text: String)] = decisions.map { ($0.elapsed, $0.text) }
        for attempt in attempts {
            var text = "\(FlightStep.transporting.text): \(attempt.method) \(attempt.url)"
            if let status = attempt.status { text += " → \(status.code)" }
            if let version = attempt.httpVersion { text += " over \(version)" }
            if let end = attempt.end { text += " in \((end - attempt.start).text)" }
            if let failure = attempt.failure { text += " failed: \(failure)" }
            lines.append((attempt.start, text))
            if let wire = attempt.wire.map({ "\($0)" }), !wire.isEmpty {
                lines.append((attempt.end ?? attempt.start, "wire: \(wire)"))
            }
        }
        // Swift's sort is stable, so decisions with equal times stay in order.
        lines.sort { $0.elapsed < $1.elapsed }
        return ([summary] + lines.map { "    +\($0.elapsed.text)  \($0.text.oneLine)" }).joined(separator: "\n")
    }
}

extension FlightRecord.Decision {
    package var text: String { "\(step.text): \(self)" }
}

extension Duration {
    /// The duration in the most suitable unit, with three digits.
    public var text: String {
        let seconds = seconds
        let (value, unit) =
            switch abs(seconds) {
            case 1...: (seconds, "s")
            case 1e-3...: (seconds * 1e3, "ms")
            default: (seconds * 1e6, "µs")
            }
        if abs(value) >= 100 { return "\(Int64(value.rounded())) \(unit)" }
        let scale = abs(value) >= 10 ? 10.0 : 100.0
        let rounded = (value * scale).rounded() / scale
        return "\(rounded.shortestText) \(unit)"
    }
}
