package import HTTPTypes

/// The receiver of the interim responses to a request.
private struct InterimReceiver: StageValueKey {
    static var defaultValue: InterimReceiver? { nil }
    let receive: @Sendable (HTTPResponse, HTTPRequest) -> Void
}

extension Request {
    /// Receives interim responses (1xx) and the head of the request that they respond to, on any thread; must return at
    /// once. A transport that can't deliver them calls it for none.
    package var onInterim: (@Sendable (HTTPResponse, HTTPRequest) -> Void)? {
        get { values[InterimReceiver.self]?.receive }
        set { values[InterimReceiver.self] = newValue.map(InterimReceiver.init) }
    }
}
