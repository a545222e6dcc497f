/// The times at which a request was sent and its response was received.
///
/// Durations are measured on the monotonic clock, so that a change of the wall clock does not affect the age of a
/// response. The wall clock is read once, for the comparison with the origin's `Date`.
struct ExchangeTimes: Sendable {
    /// The time on the layer's clock at which the request was sent.
    var requested: Duration
    /// The time on the layer's clock at which the response was received.
    var received: Duration
    var receivedDate: HTTPDate
}
