/// Decides when the completion handlers of a background session are called. It is a state machine without a session.
///
/// The system passes a handler when it wakes the app for the ends of transfers. Later it reports that it has delivered
/// all ends to the session. The handler is called after that report, when the app has received the ends. After a launch
/// the report may come before the handler. Without a handler, for example after a launch by the user, a report must not
/// count for a later handler, whose ends are not delivered yet.
struct BackgroundReports<Handler> {
    /// The time for which a report of delivered ends counts for a completion handler that the system passes later. It
    /// is 30 s, the time that the system allows an app that it wakes.
    static var reportLifetime: Duration { .seconds(30) }

    private var handlers: [Handler] = []
    /// The time at which the session last reported that the ends of all transfers have been delivered; `nil` after that
    /// report was used for a handler.
    private var reported: Duration?
    private var deliveryCount = 0

    /// Records that the system passed a completion handler.
    ///
    /// - Returns: The handlers to call now.
    mutating func add(_ handler: Handler, at now: Duration) -> [Handler] {
        if let reported, now - reported > Self.reportLifetime { self.reported = nil }
        handlers.append(handler)
        return takeHandlers()
    }

    /// Records that the session has reported the delivery of the ends of all transfers.
    ///
    /// - Returns: The handlers to call now.
    mutating func report(at now: Duration) -> [Handler] {
        reported = now
        return takeHandlers()
    }

    /// Records that the app begins to receive the end of a transfer.
    mutating func deliveryBegan() { deliveryCount += 1 }

    /// Records that the app has received the end of a transfer.
    ///
    /// - Returns: The handlers to call now.
    mutating func deliveryEnded() -> [Handler] {
        deliveryCount -= 1
        return takeHandlers()
    }

    private mutating func takeHandlers() -> [Handler] {
        guard reported != nil, deliveryCount == 0, !handlers.isEmpty else { return [] }
        defer { (handlers, reported) = ([], nil) }
        return handlers
    }
}
