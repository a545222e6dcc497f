/// The position of an event in a stream of a Runway server, sent as the event's `id:` in the form `<epoch>-<offset>`.
public struct EventID: Sendable, Hashable, CustomStringConvertible {
    /// The id of the stream's numbering. A server that has lost its events starts a new numbering with another epoch.
    public let epoch: String
    /// The number of the event in the stream. Numbers start at 1 and have no gaps.
    public let offset: Int64

    /// Creates a position. A malformed epoch or a negative offset is a programming error, and traps.
    ///
    /// - Parameters:
    ///   - epoch: 1 to 64 letters and digits.
    ///   - offset: The number of the event; 0 is the position before the first event.
    public init(epoch: String, offset: Int64) {
        precondition(
            Self.isEpoch(epoch) && offset >= 0, "An epoch has letters and digits, and no offset is negative")
        self.init(of: epoch, offset)
    }

    /// Creates a position without checking the epoch, which comes from a log.
    package init(of epoch: String, _ offset: Int64) { (self.epoch, self.offset) = (epoch, offset) }

    /// Parses an id. Returns `nil` if it is malformed.
    public init?(_ text: String) {
        guard let dash = text.firstIndex(of: "-"), Self.isEpoch(text[..<dash]) else { return nil }
        let digits = text[text.index(after: dash)...]
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let offset = Int64(digits)
        else { return nil }
        epoch = String(text[..<dash])
        self.offset = offset
    }

    /// The id in the form `<epoch>-<offset>`.
    public var description: String { "\(epoch)-\(offset)" }

    /// Whether a text is a valid epoch: 1 to 64 letters and digits.
    package static func isEpoch(_ text: some StringProtocol) -> Bool {
        (1...64).contains(text.utf8.count) && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}
