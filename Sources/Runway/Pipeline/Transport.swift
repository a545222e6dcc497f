/// Sends one request over the network, once, and returns the response. The transport is the end of the pipeline.
///
/// An implementation does not retry, follow redirects, judge a status or store cookies, because stages do. It must
/// follow these rules:
/// - It may move a request to another connection only if the server certainly did not process it (RFC 9113 §8.7), or if
///   the request is idempotent and was lost on a reused connection (RFC 9112 §9.3.1). A request does not count as lost
///   if the server reset it and may have processed it before.
/// - It decodes the transfer and content codings that it asked for, and honours ``Request/delivery``.
/// - It fails with a ``NetworkError`` of the step ``FlightStep/transporting``.
/// - When its task is cancelled, it stops the work on the socket and throws at once.
///
/// ```swift
/// struct PrintingTransport: Transport {
///     let wire: any Transport
///
///     func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
///         let response = try await wire.send(request, in: flight)
///         print(request.url, response.head.status.code)
///         return response
///     }
/// }
/// ```
public protocol Transport: Sendable {
    /// Returns whether the transport ends the request at once when the call's deadline passes or the task is cancelled;
    /// see ``Flight/withDeadlineHandler(_:onDeadline:)``. The default is `false`: the layer then runs the request in a
    /// task that it abandons at the deadline.
    func endsInTime(_ request: Request) -> Bool

    /// Sends a request and waits for its response. If the body is delivered as a stream, waits only for the status and
    /// header fields.
    ///
    /// - Parameters:
    ///   - request: The request to send. Its head has a scheme and an authority.
    ///   - flight: The call that the request belongs to. The transport reports its measurements to the flight.
    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response

    /// Prepares for requests to a URL that are about to be sent, for example by connecting. Returns immediately. If the
    /// preparation fails, only a later request reports the failure. The default does nothing.
    ///
    /// - Parameter url: An absolute URL, such as a service's base URL.
    func warmUp(_ url: String)

    /// Called when the device has joined another network or has a network again. Existing connections may be broken.
    /// The implementation must return immediately, and may be called more than once for one change. The default does
    /// nothing.
    func networkDidChange(to status: NetworkStatus)
}

extension Transport {
    /// Returns `false`, the default: the layer enforces the deadline.
    public func endsInTime(_ request: Request) -> Bool { false }
    /// Does nothing: the default implementation.
    public func warmUp(_ url: String) {}
    /// Does nothing: the default implementation.
    public func networkDidChange(to status: NetworkStatus) {}
}
