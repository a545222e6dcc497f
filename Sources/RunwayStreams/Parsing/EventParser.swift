/// Finds the events in the bytes of a stream of `text/event-stream` (WHATWG HTML §9.2.6). The parser only computes: it
/// waits for nothing.
///
/// Runway adds the field `topic`. Other clients ignore this field, since the standard requires clients to ignore every
/// unknown field.
///
/// ```swift
/// var parser = EventParser()
/// for try await part in response.body {
///     parser.add(part)
///     while let item = try parser.next() { print(item) }
/// }
/// ```
///
/// The bytes may be divided anywhere. A line ends with LF, CR or CRLF. An event is complete as soon as the first byte
/// of its last line end has arrived. Bytes that are not UTF-8 become U+FFFD, and one byte order mark at the start is
/// omitted. If the end of the stream interrupts an event, the event is discarded.
///
/// The parser uses memory for at most one line of 1 MiB, one event of 4 MiB and one part. Equal parsers return equal
/// items for equal bytes.
public struct EventParser: Sendable, Equatable {
    /// An item that the parser found in a stream.
    public enum Item: Sendable, Hashable {
        /// A complete event.
        case event(ServerSentEvent)
        /// An id without data. The position in the stream has moved, but there is nothing to deliver.
        case id(String)
        /// The reconnection time that the server asks for. The parser does not limit it, so the reader has to.
        case retry(Duration)
    }

    /// The id for a reconnection: the id of the last complete event, or else the initial id.
    public private(set) var lastEventID: String

    private let limits: EventLimits
    /// The unread bytes of the last part.
    private var part: ArraySlice<UInt8> = []
    /// The start of an incomplete line, from earlier parts.
    private var line: [UInt8] = []
    /// Whether the last line ended with CR, so that an LF may follow.
    private var endedWithCR = false
    private var isFirstLine = true

    private var data: [UInt8] = []
    private var hasData = false
    private var type: [UInt8] = []
    private var topic: String?
    private var pendingID: String?

    /// Creates a parser for one response.
    ///
    /// - Parameter lastEventID: The id with which the stream was requested. The default is an empty text, no id.
    public init(lastEventID: String = "") { self.init(lastEventID: lastEventID, limits: EventLimits()) }

    package init(lastEventID: String = "", limits: EventLimits) {
        self.lastEventID = lastEventID
        self.limits = limits
    }

    /// Adds the next bytes. Call it only after ``next()`` has returned `nil`.
    public mutating func add(_ part: [UInt8]) {
        if self.part.isEmpty { self.part = part[...] } else { self.part += part }
    }

    /// Returns the next item; `nil` if more bytes are needed.
    ///
    /// - Throws: ``EventLimitExceeded`` if a line or an event is too large. No further item can be read then.
    public mutating func next() throws(EventLimitExceeded) -> Item? {
        while try takeLine() {
            let item = try read()
            line.removeAll(keepingCapacity: true)
            if let item { return item }
        }
        return nil
    }

    /// Moves bytes to the line. Returns whether the line is complete.
    private mutating func takeLine() throws(EventLimitExceeded) -> Bool {
        if endedWithCR, let first = part.first {
            if first == .lineFeed { part.removeFirst() }
            endedWithCR = false
        }
        let end = part.firstIndex { $0 == .lineFeed || $0 == .carriageReturn }
        line += part[..<(end ?? part.endIndex)]
        guard line.count <= limits.maximumLineByteCount else {
            throw EventLimitExceeded(subject: "line", maximumByteCount: limits.maximumLineByteCount)
        }
        guard let end else {
            part = []
            return false
        }
        endedWithCR = part[end] == .carriageReturn
        part = part[(end + 1)...]
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        }
        return true
    }

    private mutating func read() throws(EventLimitExceeded) -> Item? {
        if line.isEmpty { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        let name = line[..<(colon ?? line.endIndex)]
        var value = colon.map { line[($0 + 1)...] } ?? []
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        if name.elementsEqual("data".utf8) {
            if hasData { data.append(.lineFeed) }
            data += value
            hasData = true
            try checkEvent()
        } else if name.elementsEqual("event".utf8) {
            type = Array(value)
            try checkEvent()
        } else if name.elementsEqual("id".utf8) {
            // An id with NULL is ignored, since a header field can't carry it.
            if !value.contains(0) { pendingID = String(decoding: value, as: UTF8.self) }
        } else if name.elementsEqual("topic".utf8) {
            topic = String(decoding: value, as: UTF8.self)
        } else if name.elementsEqual("retry".utf8) {
            return retry(value)
        }
        return nil
    }

    /// Parses the value of `retry`, which must consist of digits. A larger number counts as 18 nines.
    private func retry(_ value: ArraySlice<UInt8>) -> Item? {
        guard !value.isEmpty, value.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        let digits = value.drop { $0 == UInt8(ascii: "0") }
        let milliseconds =
            digits.count > 18 ? 999_999_999_999_999_999 as Int64 : Int64(String(decoding: digits, as: UTF8.self)) ?? 0
        return .retry(.milliseconds(milliseconds))
    }

    private mutating func dispatch() -> Item? {
        defer {
            data = []
            hasData = false
            type = []
            topic = nil
            pendingID = nil
        }
        let movedID = pendingID.flatMap { $0 == lastEventID ? nil : $0 }
        if let movedID { lastEventID = movedID }
        guard hasData else { return movedID.map(Item.id) }
        return .event(
            ServerSentEvent(
                type: type.isEmpty ? "message" : String(decoding: type, as: UTF8.self),
                data: String(decoding: data, as: UTF8.self), id: lastEventID, topic: topic))
    }

    private func checkEvent() throws(EventLimitExceeded) {
        guard data.count + type.count > limits.maximumEventByteCount else { return }
        throw EventLimitExceeded(subject: "event", maximumByteCount: limits.maximumEventByteCount)
    }
}

extension UInt8 {
    fileprivate static let lineFeed = UInt8(ascii: "\n")
    fileprivate static let carriageReturn = UInt8(ascii: "\r")
}
