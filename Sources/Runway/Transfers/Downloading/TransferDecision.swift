/// A decision of a download about a response, for the call's record.
package enum TransferDecision: StageDecision, Equatable {
    /// The download resumes at the position where an earlier one ended.
    case resuming(at: Int)
    /// The connection was lost after this many bytes of the file. The rest is requested after a wait.
    case interrupted(at: Int, wait: Duration, cause: RetryCause)
    /// The partial file could not be resumed, so the whole file is fetched.
    case startedOver(Mismatch)
    /// The complete file was saved.
    ///
    /// - Parameters:
    ///   - name: The name of the file, without its folder.
    ///   - byteCount: The size of the file.
    ///   - resumed: The number of bytes that had been received before the last response.
    case saved(name: String, byteCount: Int, resumed: Int)

    /// The reason why a response does not continue the partial file.
    package enum Mismatch: String, Sendable, CustomStringConvertible {
        /// The server sent the whole file, because it has changed or because the server does not support ranges.
        case whole
        /// The server sent another range than the requested one.
        case range
        /// The part belongs to another version of the file.
        case validator
        /// The part has a content coding.
        case coding
        /// The server has no such range.
        case unsatisfied
        /// More bytes were received than announced.
        case surplus
        /// The received bytes do not match the server's digest.
        case digest
        /// The server reports that the file is complete. Its last byte is requested again to confirm that.
        case complete

        package var description: String {
            switch self {
            case .whole: "the server sent the whole file"
            case .range: "the server sent another part than was requested"
            case .validator: "the part is of another file"
            case .coding: "the part is in a content coding"
            case .unsatisfied: "the server has no such part"
            case .surplus: "more bytes than announced"
            case .digest: "the digest does not match the bytes"
            case .complete: "nothing is missing"
            }
        }
    }

    package static var step: FlightStep { .saving }

    package var entry: DecisionRecord {
        switch self {
        case .resuming(let at): .init("resuming", ["at": at], "resuming at byte \(at)")
        case .interrupted(let at, let wait, let cause):
            .init(
                "interrupted", ["at": at, "wait": wait, "cause": cause],
                "\(cause) at byte \(at), resuming in \(wait.text)")
        case .startedOver(.complete):
            .init(
                "startedOver", ["reason": "complete"],
                "asking for the last byte: the server says that nothing is missing")
        case .startedOver(let mismatch):
            .init("startedOver", ["reason": mismatch.rawValue], "starting over: \(mismatch)")
        case .saved(let name, let byteCount, let resumed):
            .init(
                "saved", ["name": name, "byteCount": byteCount, "resumed": resumed],
                "saved \(name), \(byteCount) bytes" + (resumed > 0 ? ", \(resumed) of them resumed" : ""))
        }
    }
}
