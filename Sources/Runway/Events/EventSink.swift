/// Receives the record of every call of a layer: for a log, metrics, a trace, a test.
///
/// Sinks are called one record at a time, in the order of landing, on a thread of the layer's own and never on the path of a call: a slow
/// sink delays other records, not flights. When more than 4,096 wait, further ones are dropped and
/// counted.
///
/// ```swift
/// struct SlowCallSink: EventSink {
///     func receive(_ record: FlightRecord) {
///         if record.duration > .seconds(3) { print(record.summary) }
///     }
/// }
/// ```
public protocol EventSink: Sendable {
    /// Receives one record.
    ///
    /// Called once for every call, after it landed; and again with the same ``FlightRecord/id`` if a reformer fails on the
    /// cached response later. The record of a call that was cancelled while others shared its request follows when that request
    /// has ended. The implementation should not block for long.
    func receive(_ record: FlightRecord)
}
