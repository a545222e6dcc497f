/// Receives the record of every call of a layer: for a log, metrics, a trace, a test.
///
/// Sinks are called one record at a time, in the order of landing, on a separate thread and never on the path of a
/// call: a slow sink delays other records, not flights. When more than 4,096 records are pending, further ones are
/// dropped and counted.
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
    /// Called once for every call, after it landed; and again with the same ``FlightRecord/id`` if a reformer fails on
    /// the cached response later. For a call that was cancelled while others shared its request, it is called when that
    /// request has ended. The implementation should not block for long.
    func receive(_ record: FlightRecord)
}
