/// The server's decision on one transaction (rule 3). Each number is one of the log; a device shows the transaction
/// until its cursor reaches it.
package enum Verdict: Hashable, Sendable {
    /// It is in the log.
    case applied(Int64)
    /// It is in the log, and met a change that its device had not seen.
    case conflict(Int64)
    /// All its rows have newer lives. The number is the head of the log at the decision.
    case superseded(head: Int64)
    /// It changed nothing, and never will. The number is the head of the log at the decision.
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

/// The reason for which the server refused a transaction.
package struct Refusal: Hashable, Sendable {
    package let name: String

    /// It updates a row, or a life of a row, that the server never had.
    package static let absent = Refusal(name: "absent")
    /// The server's rule does not let the device make this change.
    package static let forbidden = Refusal(name: "forbidden")
    /// A batch matches more than 10,000 rows.
    package static let tooMany = Refusal(name: "tooMany")
    /// The transaction does not fit into a request.
    package static let tooLarge = Refusal(name: "tooLarge")
    /// The user withdrew it, and it had not arrived.
    package static let void = Refusal(name: "void")
    /// The server can't read it.
    package static let unreadable = Refusal(name: "unreadable")
    /// The device lost its right to the space before it sent the transaction.
    package static let revoked = Refusal(name: "revoked")
}
