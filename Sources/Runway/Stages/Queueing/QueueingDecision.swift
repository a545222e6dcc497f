package import struct Foundation.UUID

/// A decision of the offline queue's stage that the record shows.
package enum QueueingDecision: StageDecision, Equatable {
    /// The reason why a change is stored, before or after it was sent.
    package enum Cause: Sendable, Equatable, CustomStringConvertible {
        /// Earlier changes of the account wait, and this change must not overtake them.
        case others
        case failed(NetworkError.Kind)
        /// The server responded with this status, which does not mean that it refused the change permanently.
        case status(Int)

        package var description: String {
            switch self {
            case .others: "earlier changes wait"
            case .failed(let kind): kind.words
            case .status(let code): "status \(code)"
            }
        }
    }

    case stored(change: UUID, cause: Cause)
    /// The call can't be stored for this reason. It is sent, or fails, like any other call.
    case unstorable(String)
    /// Storing the call failed.
    case failed(cause: Cause)
    /// The call could not be stored before it is sent, for this reason. It will be lost if the process ends during the
    /// call.
    case unwritten(String)
    /// The call waited this long for an earlier call that changes the same object.
    case waited(Duration)
    case replaying(change: UUID)

    package static var step: FlightStep { .offlineQueue }

    package var entry: DecisionRecord {
        switch self {
        case .stored(let change, let cause):
            .init("queued", ["change": change, "cause": cause], "\(cause): stored to be sent later")
        case .unstorable(let reason): .init("unstorable", ["reason": reason], "not stored: \(reason)")
        case .failed(let cause): .init("queueFailed", ["cause": cause], "\(cause): could not be stored")
        case .unwritten(let reason):
            .init("unwritten", ["reason": reason], "sent without being stored before: \(reason)")
        case .waited(let wait):
            .init("waitedForChange", ["wait": wait], "waited \(wait.text) for an earlier change of the same")
        case .replaying(let change): .init("replaying", ["change": change], "sends the stored change \(change)")
        }
    }
}

extension NetworkError.Kind {
    /// The name of the kind as separate words: `no network` for ``noNetwork``.
    fileprivate var words: String {
        name.reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : "\($1)" }
    }
}
