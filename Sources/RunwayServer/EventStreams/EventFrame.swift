import NIOCore
import RunwayFormats

/// Encodes events as bytes of an event stream (WHATWG HTML §9.2.6).
enum EventFrame {
    static func event(_ event: PublishedEvent, _ epoch: String, _ offset: Int64) -> ByteBuffer {
        var text = "id: \(epoch)-\(offset)\n"
        if event.type != "message" { text += "event: \(event.type)\n" }
        text += "topic: \(event.topic)\n"
        var buffer = ByteBuffer()
        buffer.reserveCapacity(text.utf8.count + event.data.utf8.count + 16)
        buffer.writeString(text)
        // A line end in the data begins another `data` line. Clients join these lines with LF, so CR and CRLF become
        // LF.
        let lines = event.data.utf8.contains { $0 == 10 || $0 == 13 } ? lines(of: event.data) : [event.data[...]]
        for line in lines {
            buffer.writeString("data: ")
            buffer.writeSubstring(line)
            buffer.writeString("\n")
        }
        buffer.writeString("\n")
        return buffer
    }

    /// Returns a heartbeat, which advances the client's last event id while its topics are quiet. With an old id, the
    /// client would receive a gap on resumption, once the log has removed events of other topics.
    static func heartbeat(_ epoch: String, _ offset: Int64) -> ByteBuffer {
        ByteBuffer(string: "id: \(epoch)-\(offset)\n\n")
    }

    /// Returns a control event of the stream itself.
    static func control(_ control: StreamControl, at place: EventID) -> ByteBuffer {
        ByteBuffer(string: "id: \(place)\nevent: \(control.kind.rawValue)\ndata: \(control.data)\n\n")
    }

    private static func lines(of text: String) -> [Substring] {
        // "\r\n" is a single `Character`.
        text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }
    }
}
