/// Decides when the completion handlers of a background session are called: a state machine without a session.
///
/// The system passes a handler when it wakes the app for the ends of transfers, and reports later that it has passed
/// all of them. The handler is called after that report, when the app has received the ends. At a launch the report may
/// precede the handler. A report without a handler, for example after a launch by the user, must not count for the
/// handler of a later wake, whose ends are still to be delivered.
struct BackgroundReports<Handler> {
    /// The time for which a report counts for a later handler: 30 s, the time that the system gives an app that it
    /// wakes.
    static var reportLifetime: Duration { .seconds(30) }

    private var handlers: [Handler] = []
    /// The time at which the session last reported that it has passed all ends; `nil` after that report counted for a
    /// handler.
    private var reported: Duration?
    private var deliveryCount = 0

    /// Notes that the system passed a handler.
    ///
    /// - Returns: The handlers to call now.
    mutating func add(_ handler: Handler, at now: Duration) -> [Handler] {
        if let reported, now - reported > Self.reportLifetime { self.reported = nil }
        handlers.append(handler)
        return takeHandlers()
    }

    /// Notes that the session reported that it has passed all ends.
    ///
    /// - Returns: The handlers to call now.
    mutating func report(at now: Duration) -> [Handler] {
        reported = now
        return takeHandlers()
    }

    /// Notes that the app begins to receive an end.
    mutating func deliveryBegan() { deliveryCount += 1 }

    /// Notes that the app has received an end.
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
