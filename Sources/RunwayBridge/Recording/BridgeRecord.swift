public import Runway

/// Reports the end of one call of a page, or several refusals for one reason.
public struct BridgeRecord: Sendable, CustomStringConvertible {
    /// The number of the document that made the call, from 1, in the order in which the bridge met them.
    public let document: Int
    /// The origin of the document as the browser recorded it; `null` if it is opaque.
    public let origin: String
    /// The name of the command; empty in a total of refusals.
    public let command: String
    /// The input as JSON without its secrets, at most 1,024 bytes.
    public let input: String
    /// The reason why the call was refused or failed; `nil` if it succeeded.
    public let error: BridgeError?
    /// Whether the command was never started.
    public let isRefusal: Bool
    /// The number of refusals in a total, otherwise 1. The first ten for a reason have records of their own, later ones
    /// one record each second.
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
    /// Receives one record, in the order of their ends for one document. The implementation should not block.
    func receive(_ record: BridgeRecord)
}
