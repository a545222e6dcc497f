/// The position of an event in a stream of Runway's servers: `<epoch>-<offset>`, as the `id:` of an event has it.
public struct EventID: Sendable, Hashable, CustomStringConvertible {
    /// The name of one numbering of the stream. A server that has lost its events begins another.
    public let epoch: String
    /// The number of the event in the stream; numbers begin with 1 and have no gap.
    public let offset: Int64

    /// Names the position of an event in a numbering. A malformed epoch or a negative offset is an error of the
    /// program.
    ///
    /// - Parameters:
    ///   - epoch: Letters and digits, at most 64.
    ///   - offset: The number of the event; 0 is the position before the first.
    public init(epoch: String, offset: Int64) {
        precondition(
            Self.isEpoch(epoch) && offset >= 0, "An epoch has letters and digits, and no offset is negative")
        self.init(of: epoch, offset)
    }

    /// Names the place of an event of a log, whose epoch is not checked.
    package init(of epoch: String, _ offset: Int64) { (self.epoch, self.offset) = (epoch, offset) }

    /// Reads an id; `nil` if it is malformed.
    public init?(_ text: String) {
        guard let dash = text.firstIndex(of: "-"), Self.isEpoch(text[..<dash]) else { return nil }
        let digits = text[text.index(after: dash)...]
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let offset = Int64(digits)
        else { return nil }
        epoch = String(text[..<dash])
        self.offset = offset
    }

    /// The id as it is sent.
    public var description: String { "\(epoch)-\(offset)" }

    /// Whether a text can name a numbering: 1 to 64 letters and digits.
    package static func isEpoch(_ text: some StringProtocol) -> Bool {
        (1...64).contains(text.utf8.count) && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}
