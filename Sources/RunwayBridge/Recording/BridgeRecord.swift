public import Runway

/// A record of one call of a page that has ended, or of several calls that were refused for the same reason.
public struct BridgeRecord: Sendable, CustomStringConvertible {
    /// The number of the document, that is of the loaded page, that made the call. The first document of a bridge has
    /// the number 1.
    public let document: Int
    /// The origin of the document as the browser recorded it; `null` if it is opaque.
    public let origin: String
    /// The name of the command; empty if the record stands for several calls.
    public let command: String
    /// The input as JSON without its secrets, at most 1,024 bytes.
    public let input: String
    /// The reason why the call was refused or failed; `nil` if it succeeded.
    public let error: BridgeError?
    /// Whether the call was refused, so that its command was not started.
    public let isRefusal: Bool
    /// The number of calls for which the record stands. It is 1 for a call that was not refused, and for the first ten
    /// refusals for one reason in a document. Later refusals for that reason share at most one record a second.
    public let count: Int
    /// The time from the arrival of the call to its end; zero for refusals.
    public let duration: Duration
    /// The size of the output.
    public let outputByteCount: Int
    /// The calls that the command made through network layers, by their numbers in their layers' records: the first 8.
    public let flights: [FlightID]

    /// One line.
    public var description: String {
        let name = command.isEmpty ? "calls" : command
        let calls = count == 1 ? name : "\(count) \(name)"
        switch error {
        case nil:
            let milliseconds = duration / .milliseconds(1)
            return "\(origin) \(calls) \(input) succeeded in \((milliseconds * 10).rounded() / 10) ms, "
                + "\(outputByteCount) bytes" + flights.map { ", flight \($0)" }.joined()
        case let error?:
            return "\(origin) \(calls) \(input) \(isRefusal ? "refused" : "failed"), \(error)"
                + flights.map { ", flight \($0)" }.joined()
        }
    }
}

/// Receives the record of every call of a page, and of every refusal.
///
/// Records of pages have sinks of their own, so that a page that floods the bridge evicts no record of a flight.
public protocol BridgeSink: Sendable {
    /// Receives one record. Records of one document arrive in the order in which its calls ended. The implementation
    /// must return at once.
    func receive(_ record: BridgeRecord)
}
