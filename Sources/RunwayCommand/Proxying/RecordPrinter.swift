import Foundation
import HTTPTypes
import Runway
import RunwayJSON

/// Prints the record of every call on standard output.
struct RecordPrinter: EventSink {
    /// The level of detail in which records are printed.
    enum Style: Sendable {
        /// One line for a person.
        case line
        /// Every step, for a person.
        case full
        /// One line of JSON.
        case json
    }

    let style: Style
    /// The bodies of calls; `nil` if they are not printed.
    var captures: BodyCaptures?
    /// The names of members whose values are redacted in bodies.
    var names = JSONRedaction.default

    func receive(_ record: FlightRecord) {
        switch style {
        case .line: write(Self.line(record) + bodies(of: record))
        case .full: write("\(Self.line(record))\n\(record)" + bodies(of: record))
        case .json: write(json: record)
        }
    }

    /// Prints how a tunnel ended.
    func receive(_ record: TunnelRecord) {
        if style == .json { write(json: record) } else { write(record.line.oneLine) }
    }

    private func write(json record: some Encodable) {
        guard let bytes = try? JSONEncoder().encode(record) else { return }
        write(String(decoding: bytes, as: UTF8.self))
    }

    private func write(_ text: String) {
        // A reader that is gone, or a full disk, is no reason not to serve.
        try? Console.output.write(text + "\n")
    }

    /// Returns the heads of the last request and response, and the start of their bodies, each on lines of its own;
    /// empty if they are not printed.
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

    /// Returns the call, its outcome, and its decisions in one line.
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

/// The client's request, for the record of a call that sends no request.
struct ProxiedRequestDecision: StageDecision {
    var method: HTTPRequest.Method
    /// The path without its query, which may hold secrets.
    var path: String

    static var step: FlightStep { .customStage("proxy") }
    var entry: DecisionRecord { .init("proxied", ["method": method, "path": path], "\(method) \(path)") }
}

/// Records every request at the top of the pipeline. Bodies pass unchanged.
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
