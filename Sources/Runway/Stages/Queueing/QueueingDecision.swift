package import struct Foundation.UUID

/// A decision of the stage of the offline queue, for the record.
package enum QueueingDecision: StageDecision, Equatable {
    /// The reason why a change is stored instead of being sent, or after it was sent.
    package enum Cause: Sendable, Equatable, CustomStringConvertible {
        /// Earlier changes of the account wait, and this change must not overtake them.
        case others
        /// The call failed for this reason.
        case failed(NetworkError.Kind)
        /// The server responded with this status, which does not show that it refused the change for ever.
        case status(Int)

        package var description: String {
            switch self {
            case .others: "earlier changes wait"
            case .failed(let kind): kind.words
            case .status(let code): "status \(code)"
            }
        }
    }

    /// The call is stored.
    case stored(change: UUID, cause: Cause)
    /// The call can't be stored for this reason, and is sent or fails as any other.
    case unstorable(String)
    /// The call was to be stored, but this failed.
    case failed(cause: Cause)
    /// The call is sent without having been stored before, for this reason: it is lost if the process ends meanwhile.
    case unwritten(String)
    /// The call waited until an earlier call with a common subject had ended.
    case waited(Duration)
    /// The call sends a stored change.
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
    /// The name of the kind as words: `no network` for ``noNetwork``.
    fileprivate var words: String {
        name.reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : "\($1)" }
    }
}
