/// Sends one request over the wire, once, and returns the response: the end of the pipeline.
///
/// An implementation does not retry, follow redirects, judge a status or store cookies: stages do. It may move a
/// request to another connection only if the server certainly did not process it (RFC 9113 §8.7), or if it is
/// idempotent and was lost on a reused connection (RFC 9112 §9.3.1); a request that the server reset after it may have
/// processed it was not lost. It decodes the transfer and content codings that it asked for, honours
/// ``Request/delivery``, and fails with a ``NetworkError`` of the step ``FlightStep/transporting``. When its task is
/// cancelled it stops the work on the socket and throws at once.
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
    /// Whether the transport ends the request at once when the deadline of its flight passes, see
    /// ``Flight/withDeadlineHandler(_:onDeadline:)``, and when its task is cancelled. The default is `false`: the layer
    /// enforces the deadline, in a task that it can abandon.
    func endsInTime(_ request: Request) -> Bool

    /// Sends a request and waits for its response: for all of it, or for its head if the body is wanted as a stream.
    ///
    /// - Parameters:
    ///   - request: The request to send; its head has a scheme and an authority.
    ///   - flight: The call that the request is part of, to which the transport reports wire facts.
    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response

    /// Prepares for requests to a URL that are about to arrive, for example by connecting. Returns immediately; a
    /// failure shows when a request arrives. Does nothing by default.
    ///
    /// - Parameter url: An absolute URL, such as a service's base URL.
    func warmUp(_ url: String)

    /// Called when the device has joined another network, or has a network again: existing connections may be broken.
    /// It must return immediately, and may be called more than once for a change. The default does nothing.
    func networkDidChange(to status: NetworkStatus)
}

extension Transport {
    /// The layer enforces the deadline.
    public func endsInTime(_ request: Request) -> Bool { false }
    /// Does nothing.
    public func warmUp(_ url: String) {}
    /// Does nothing.
    public func networkDidChange(to status: NetworkStatus) {}
}
