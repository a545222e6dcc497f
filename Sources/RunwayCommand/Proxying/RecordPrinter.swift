import Foundation
import HTTPTypes
import Runway
import RunwayJSON

/// Prints the record of every call on standard output.
struct RecordPrinter: EventSink {
    /// The format in which records are printed.
    enum Style: Sendable {
        /// One line per call, for a person.
        case line
        /// Every step of a call, for a person.
        case full
        /// One line of JSON per call.
        case json
    }

    let style: Style
    var captures: BodyCaptures?
    /// The names of JSON members whose values are redacted.
    var names = JSONRedaction.default

    func receive(_ record: FlightRecord) {
        switch style {
        case .line: write(Self.line(record) + bodies(of: record))
        case .full: write("\(Self.line(record))\n\(record)" + bodies(of: record))
        case .json: write(json: record)
        }
    }

    func receive(_ record: TunnelRecord) {
        if style == .json { write(json: record) } else { write(record.line.oneLine) }
    }

    private func write(json record: some Encodable) {
        guard let bytes = try? JSONEncoder().encode(record) else { return }
        write(String(decoding: bytes, as: UTF8.self))
    }

    private func write(_ text: String) {
        // The proxy continues if standard output is closed or the disk is full.
        try? Console.output.write(text + "\n")
    }

    /// Returns the heads of the last request and response, and the start of their bodies, each on separate lines.
    /// Returns an empty text if bodies are not printed.
    private func bodies(of record: FlightRecord) -> String {
        guard let captures else { return "" }
        let pair = captures.take(record.id)
        let wire = record.attempts.last.map { WireText(attempt: $0) }
        var lines = (wire?.requestLines ?? []).map { "  > \($0)" }
        if let text = pair?.request?.text(names) { lines.append("  > \n  > \(text)") }
        lines += (wire?.responseLines ?? []).map { "  < \($0)" }
        if let text = pair?.response?.text(names) { lines.append("  < \n  < \(text)") }
        return lines.map { "\n\($0)" }.joined()
    }

    /// Returns one line with the call, its outcome, and its decisions.
    static func line(_ record: FlightRecord) -> String {
        let request = record.decisions(of: ProxiedRequestDecision.self).first
        var text = "\(record.id) \(request?.method.rawValue ?? "?") \(request?.path ?? "?")"
        if let status = record.attempts.last?.status { text += " → \(status.code)" }
        if let source = record.source, source != .network {
            text += source == .cache ? " from cache" : " from cache, stale"
        }
        text += " \(record.outcome.name) in \(record.duration.text)"
        if record.attempts.count != 1 { text += ", \(record.attempts.count) requests" }
        if let byteCount = record.attempts.last?.responseByteCount { text += ", \(byteCount) bytes" }
        let decisions = record.decisions.filter {
            !($0.decision is ProxiedRequestDecision) && !($0.decision is JudgingDecision)
        }
        if !decisions.isEmpty {
            text += "; " + decisions.map(\.text).joined(separator: "; ")
        }
        if let error = record.outcome.error, record.attempts.last?.status == nil { text += "; \(error.detail)" }
        return text.oneLine
    }
}

/// Records the client's request, for calls that send no request to a server.
struct ProxiedRequestDecision: StageDecision {
    var method: HTTPRequest.Method
    /// The path without the query: a query may contain secrets.
    var path: String

    static var step: FlightStep { .customStage("proxy") }
    var entry: DecisionRecord { .init("proxied", ["method": method, "path": path], "\(method) \(path)") }
}

/// Records every request at the top of the pipeline. Bodies are unchanged.
struct ProxiedRequestStage: RequestStage {
    var step: FlightStep { ProxiedRequestDecision.step }
    var endsInTime: Bool { true }

    func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> ImmediateResponse {
        let request = try draft.request(in: flight)
        let path = request.head.path?.prefix { $0 != "?" } ?? ""
        flight.note(ProxiedRequestDecision(method: request.head.method, path: String(path)))
        return .pass
    }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        try await next.send(request, in: flight)
    }
}
