package import HTTPTypes

private struct InterimReceiver: StageValueKey {
    static var defaultValue: InterimReceiver? { nil }
    let receive: @Sendable (HTTPResponse, HTTPRequest) -> Void
}

extension Request {
    /// Receives interim responses (1xx), and the request that they belong to, on any thread. It must return
    /// immediately. A transport that can't deliver interim responses never calls it.
    package var onInterim: (@Sendable (HTTPResponse, HTTPRequest) -> Void)? {
        get { values[InterimReceiver.self]?.receive }
        set { values[InterimReceiver.self] = newValue.map(InterimReceiver.init) }
    }
}
