/// The server's decision on one transaction (rule 3). Each number is a log number. A device shows a transaction that
/// was not refused on top of its confirmed rows until its cursor reaches the number.
package enum Verdict: Hashable, Sendable {
    /// The transaction is in the log.
    case applied(Int64)
    /// The transaction is in the log, and conflicts with a change that its device had not seen.
    case conflict(Int64)
    /// All rows of the transaction have newer lives. The number is the head of the log at the decision.
    case superseded(head: Int64)
    /// The transaction changed nothing, and never will. The number is the head of the log at the decision.
    case refused(Refusal, head: Int64)

    package var number: Int64 {
        switch self {
        case .applied(let number), .conflict(let number), .superseded(let number), .refused(_, let number): number
        }
    }

    /// Whether the transaction is in the log.
    package var isInLog: Bool {
        switch self {
        case .applied, .conflict: true
        case .superseded, .refused: false
        }
    }

    /// The reason of a refusal; `nil` for other verdicts.
    package var refusal: Refusal? {
        if case .refused(let refusal, _) = self { refusal } else { nil }
    }
}

/// The reason why the server refused a transaction.
package struct Refusal: Hashable, Sendable {
    package let name: String

    /// - Parameter name: At most 255 bytes. A hook of the server may have reasons of its own.
    package init(name: String) { self.name = name }

    /// The transaction updates a row, or a life of a row, that the server never had.
    package static let absent = Refusal(name: "absent")
    /// A rule of the server forbids the device to make this change.
    package static let forbidden = Refusal(name: "forbidden")
    /// A batch matches more than 10,000 rows.
    package static let tooMany = Refusal(name: "tooMany")
    /// The transaction does not fit into a request.
    package static let tooLarge = Refusal(name: "tooLarge")
    /// The user withdrew the transaction before it arrived.
    package static let void = Refusal(name: "void")
    /// The server can't read the transaction.
    package static let unreadable = Refusal(name: "unreadable")
    /// The transaction waited for longer than its deadline (rule 19).
    package static let expired = Refusal(name: "expired")
    /// The user did not want to send a transaction that was offered (rule 12).
    package static let declined = Refusal(name: "declined")
    /// The device lost its right to the space before it sent the transaction.
    package static let revoked = Refusal(name: "revoked")
}
