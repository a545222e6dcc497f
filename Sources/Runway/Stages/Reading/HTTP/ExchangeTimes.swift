/// When a request was sent and its answer came.
///
/// Durations are counted on the monotonic clock, so that no setting of the wall clock makes an answer younger or older; the wall clock
/// is read once, to compare it with the origin's.
struct ExchangeTimes: Sendable {
    /// The instant on the layer's clock at which the request was sent.
    var requested: Duration
    /// The instant on the layer's clock at which the answer was there.
    var received: Duration
    /// The date at which the answer was there.
    var receivedDate: HTTPDate
}
