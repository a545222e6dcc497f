/// Receives the record of every call of a layer, for example for a log, metrics, traces or a test.
///
/// Sinks receive one record at a time, in the order in which the calls end. They run on a separate thread, so a slow
/// sink delays other records but no calls. When more than 4,096 records are pending, further ones are dropped and
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
    /// Called once for every call, after the call has ended. Called again with the same ``FlightRecord/id`` if a
    /// reformer later fails on the cached response. If a call is cancelled while other calls share its request, the
    /// function is called when that request ends. The implementation should not block for long.
    func receive(_ record: FlightRecord)
}
