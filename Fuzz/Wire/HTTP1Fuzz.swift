import HTTPTypes
import NIOCore

@testable import RunwayTransport

/// Responses of HTTP/1.1. The result is the same for any segmentation, within the bounds, and after being written again.
enum HTTP1Fuzz {
    private struct Read: Equatable {
        var statuses: [Int] = []
        var fields = HTTPFields()
        var contentLength: Int?
        var isEmpty = false
        var body: [UInt8] = []
        var endCount = 0
        var failure: WireError?
        var isPersistent = false
        var hasSurplus = false
    }

    static func run(_ input: FuzzInput) {
        let method = input.isOn(0) ? HTTPRequest.Method.head : .get
        let (headBytes, fieldCount) = input.isOn(1) ? (200, 5) : (64 << 10, 512)
        func read(_ pieces: [ArraySlice<UInt8>]) -> Read {
            self.read(pieces, to: method, headBytes: headBytes, fieldCount: fieldCount)
        }
        let whole = read(input.whole)
        check(read(input.pieces) == whole, "it is read otherwise in pieces")
        if input.bytes.count <= 2048 { check(read(input.single) == whole, "it is read otherwise byte by byte") }
        check(whole.fields.count <= fieldCount, "more fields than may be")
        check(whole.body.count <= input.bytes.count, "a body longer than all that came")
        check(whole.endCount <= 1 && whole.statuses.allSatisfy { (100...999).contains($0) }, "a response too many")
        guard whole.failure == nil, whole.endCount == 1 else { return }
        if whole.isEmpty { check(whole.body.isEmpty, "a body where none can be") }
        if let length = whole.contentLength, !whole.isEmpty { check(whole.body.count == length, "another length") }
        if !whole.isEmpty { checkWritten(whole) }
    }

    private static func read(
        _ pieces: [ArraySlice<UInt8>], to method: HTTPRequest.Method, headBytes: Int, fieldCount: Int
    ) -> Read {
        var reader = HTTP1ResponseReader(maximumHeadByteCount: headBytes, maximumFieldCount: fieldCount)
        reader.expectResponse(to: method)
        var read = Read()
        func take(_ event: HTTP1ResponseReader.Event) {
            switch event {
            case .informational(let head): read.statuses.append(head.status.code)
            case .head(let head, let isEmpty, let contentLength):
                read.statuses.append(head.status.code)
                (read.fields, read.isEmpty, read.contentLength) = (head.headerFields, isEmpty, contentLength)
            case .body(let part):
                check(part.readableBytes > 0, "an empty part")
                read.body += Array(part.readableBytesView)
            case .end: read.endCount += 1
            }
        }
        do throws(WireError) {
            for piece in pieces {
                reader.feed(ByteBuffer(bytes: piece))
                while let event = try reader.next() { take(event) }
            }
            (read.isPersistent, read.hasSurplus) = (reader.isPersistent, reader.hasSurplus)
            if read.endCount == 0, let event = try reader.finish() { take(event) }
        } catch {
            read.failure = error
        }
        return read
    }

    /// The response again, with its body in chunks and with its length.
    private static func checkWritten(_ response: Read) {
        var head = ByteBuffer(string: "HTTP/1.1 \(response.statuses.last ?? 200) again\r\n")
        let fields = HTTPFields(response.fields.filter { $0.name != .contentLength && $0.name != .transferEncoding })
        for field in fields {
            head.writeString("\(field.name.rawName): ")
            field.withUnsafeBytesOfValue { _ = head.writeBytes($0) }
            head.writeString("\r\n")
        }
        var chunked = head
        chunked.writeString("Transfer-Encoding: chunked\r\n\r\n")
        var rest = response.body[...]
        while !rest.isEmpty {
            chunked.writeHTTP1Chunk(Array(rest.prefix(7)))
            rest = rest.dropFirst(7)
        }
        chunked.writeString("0\r\n\r\n")
        head.writeString("Content-Length: \(response.body.count)\r\n\r\n")
        head.writeBytes(response.body)
        for written in [head, chunked] {
            let again = read(
                [Array(written.readableBytesView)[...]], to: .get, headBytes: 1 << 20, fieldCount: 1000)
            check(again.failure == nil && again.endCount == 1, "what was read can't be read again")
            check(again.body == response.body && !again.hasSurplus, "another body when it is read again")
            let own = HTTPFields(again.fields.filter { $0.name != .contentLength && $0.name != .transferEncoding })
            check(own == fields, "other fields when they are read again")
        }
    }
}
