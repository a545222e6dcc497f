/// A place that is told what happened to every call of a layer: a log, metrics, a trace, a test.
///
/// Sinks are called one record at a time, in the order of landing, on a thread of the layer's own and never on the path of a call: a slow
/// sink delays other records, not flights. When more than 4,096 wait, further ones are dropped and
/// counted.
public protocol EventSink: Sendable {
    /// Takes one record.
    ///
    /// Called once for every call, after it landed; and again with the same ``FlightRecord/id`` if a reformer fails on
    /// the kept answer later. A call that was cancelled while others shared its request is told of when that request is
    /// over. The implementation should not block for long.
    func receive(_ record: FlightRecord)
}
