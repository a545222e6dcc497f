import Foundation
import Runway
import RunwayBridge
import RunwayJSON
import Synchronization

/// Prints a line for each record of the bridge.
final class PagePrinter: BridgeSink {
    private let isJSON: Bool
    private let count: Int?
    /// Guards the number of printed lines, and keeps them in order.
    private let printed = Mutex(0)
    private let ends: AsyncThrowingStream<Never, any Error>
    private let end: AsyncThrowingStream<Never, any Error>.Continuation

    /// - Parameter count: The number of lines after which ``waitForCount()`` returns; `nil` is no number.
    init(isJSON: Bool, count: Int?) {
        (self.isJSON, self.count) = (isJSON, count)
        (ends, end) = AsyncThrowingStream.makeStream()
    }

    func receive(_ record: BridgeRecord) {
        printed.withLock { number in
            if let count, number >= count { return }
            do { try Console.output.write(isJSON ? Self.object(record) : Self.line(record)) } catch {
                return end.finish(throwing: error)
            }
            number += 1
            if number == count { end.finish() }
        }
    }

    /// Waits until all lines are printed.
    ///
    /// - Throws: The errors of `Console.write`.
    func waitForCount() async throws { for try await _ in ends {} }

    private static func line(_ record: BridgeRecord) -> ConsoleText {
        let style: Console.Style = record.error == nil ? .green : record.isRefusal ? .red : .yellow
        let state = record.error == nil ? "done" : record.isRefusal ? "refused" : "failed"
        var line = ConsoleText(state, style, for: .output)
        let name = record.command.isEmpty ? "calls" : record.command
        line.append(" \(record.count == 1 ? name : "\(record.count) \(name)") \(record.input)")
        if let error = record.error {
            line.append(" \(error)")
        } else {
            line.append(" \(ByteCount(record.outputByteCount)) in \(record.duration.text)", .dim)
        }
        line.append(" \(record.origin)\n", .dim)
        return line
    }

    private static func object(_ record: BridgeRecord) -> ConsoleText {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("document")
        writer.integer(record.document)
        for (name, text) in [("origin", record.origin), ("command", record.command), ("input", record.input)] {
            writer.name(name)
            writer.string(text)
        }
        writer.name("outcome")
        writer.string(record.error == nil ? "done" : record.isRefusal ? "refused" : "failed")
        if let error = record.error {
            writer.name("kind")
            writer.string(error.kind.description)
            writer.name("message")
            writer.string(error.message)
        }
        writer.name("count")
        writer.integer(record.count)
        writer.name("milliseconds")
        writer.integer(Int(record.duration / .milliseconds(1)))
        writer.name("outputByteCount")
        writer.integer(record.outputByteCount)
        writer.endObject()
        return ConsoleText(String(decoding: writer.bytes, as: UTF8.self) + "\n", for: .output)
    }
}
