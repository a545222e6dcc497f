/// The times at which a request was sent and its response was received.
///
/// Durations are counted on the monotonic clock, so that no setting of the wall clock changes the age of a response;
/// the wall clock is read once, to compare it with the origin's.
struct ExchangeTimes: Sendable {
    /// The instant on the layer's clock at which the request was sent.
    var requested: Duration
    /// The instant on the layer's clock at which the response was received.
    var received: Duration
    /// The date at which the response was received.
    var receivedDate: HTTPDate
}
