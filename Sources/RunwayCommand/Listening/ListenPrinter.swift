import Foundation
import RunwayJSON
import RunwayStreams

/// Prints events and messages as they arrive, either for a person or as one JSON object per line.
struct ListenPrinter: Sendable {
    let isJSON: Bool

    /// - Throws: The errors of `Console.write`.
    func print(_ element: StreamElement) throws {
        switch element {
        case .event(let event):
            if isJSON {
                return try object([
                    ("type", event.type), ("id", event.id), ("topic", event.topic), ("data", event.text),
                ])
            }
            let details = [event.id, event.topic ?? ""].filter { !$0.isEmpty }
            try entry(event.type, details, event.text)
        case .continuity(let continuity):
            if isJSON { return try object(Self.members(of: continuity)) }
            try remark("\(continuity)")
        case .caughtUp:
            if isJSON { return try object([("connection", "caughtUp")]) }
            try remark("what follows is new")
        }
    }

    /// - Throws: The errors of `Console.write`.
    func print(_ element: WebSocketElement) throws {
        switch element {
        case .connected(let link):
            if let frame = link.previousClose { try print(frame) }
            if isJSON {
                return try object([("connection", "\(link.number)"), ("subprotocol", link.subprotocol)])
            }
            try remark("connection \(link.number)" + (link.subprotocol.map { ", subprotocol \($0)" } ?? ""))
        case .message(.text(let text)):
            if isJSON { return try object([("type", "text"), ("data", text)]) }
            try entry("text", [], text)
        case .message(.binary(let bytes)):
            let base64 = Data(bytes).base64EncodedString()
            if isJSON { return try object([("type", "binary"), ("base64", base64)]) }
            try entry("binary", ["\(bytes.count) bytes"], base64)
        }
    }

    /// - Throws: The errors of `Console.write`.
    func print(_ frame: WebSocketCloseFrame) throws {
        if isJSON {
            let reason = frame.reason.isEmpty ? nil : frame.reason
            return try object([("connection", "closed"), ("code", frame.code.map { "\($0)" }), ("reason", reason)])
        }
        try remark("closed by the server with \(frame)")
    }

    private static func members(of continuity: StreamContinuity) -> [(String, String?)] {
        switch continuity {
        case .resumed: [("connection", "resumed")]
        case .gap(let from, let to): [("connection", "gap"), ("from", "\(from)"), ("to", "\(to)")]
        case .reset(let reason): [("connection", "reset"), ("reason", reason.name)]
        }
    }

    /// Prints a line with the type and details of an event, and its data below. The data is indented, so that none of
    /// its lines looks like the start of another event.
    private func entry(_ type: String, _ details: [String], _ text: String) throws {
        var line = ConsoleText(Self.oneLine(type), .bold, for: .output)
        for detail in details { line.append(" \(Self.oneLine(detail))", .dim) }
        let rows = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        line.append("\n" + rows.map { "  \($0)\n" }.joined())
        try Console.output.write(line)
    }

    private func remark(_ text: String) throws {
        var line = ConsoleText("-- \(text)", .cyan, for: .output)
        line.append("\n")
        try Console.output.write(line)
    }

    private func object(_ members: [(String, String?)]) throws {
        var writer = JSONWriter()
        writer.beginObject()
        for case (let name, let value?) in members {
            writer.name(name)
            writer.string(value)
        }
        writer.endObject()
        try Console.output.write(String(decoding: writer.bytes, as: UTF8.self) + "\n")
    }

    /// Returns a server's text as one line, so that a part of it can't look like a line of this command.
    private static func oneLine(_ text: String) -> String {
        String(text.map { $0.isNewline ? " " : $0 })
    }
}
