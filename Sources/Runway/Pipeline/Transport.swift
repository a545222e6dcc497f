/// The end of the pipeline: sends one request over the wire, once, and gives the answer.
///
/// An implementation does not retry, follow redirects, judge a status or keep cookies: stages do. It may move a request to another
/// connection only if the request certainly reached nobody, or if it is idempotent and was lost on a reused connection
/// (RFC 9112 §9.3.1), which a request that the server ended itself, such as by a reset over HTTP/2, was not. It decodes the transfer and
/// content codings that it asked for, honours ``Request/delivery``, and fails with a ``NetworkError`` of the step
/// ``FlightStep/transporting``. When its task is cancelled it stops the work on the socket and throws at once.
public protocol Transport: Sendable {
    /// Whether the transport ends the request at once when the deadline of its flight passes, see
    /// ``Flight/withDeadlineHandler(_:onDeadline:)``, and when its task is cancelled. The default is `false`: the layer sees to the
    /// deadline, in a task that it can leave behind.
    func endsInTime(_ request: Request) -> Bool

    /// Sends a request and waits for its answer: for all of it, or for its head where the body is wanted as a stream.
    ///
    /// - Parameters:
    ///   - request: What to send; its head has a scheme and an authority.
    ///   - flight: The call that it is part of, for what the transport has to say for the record.
    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response

    /// Makes ready for requests to a URL that are about to come, such as by connecting. It returns at once; what goes wrong shows when
    /// a request comes. The default does nothing.
    ///
    /// - Parameter url: An absolute URL, such as a service's base URL.
    func warmUp(_ url: String)

    /// The device has come to another network, or back to one after it had none: connections that were made before may lead nowhere.
    /// It returns at once, and may be called more than once for a change. The default does nothing.
    func networkDidChange(to status: NetworkStatus)
}

extension Transport {
    /// The layer has to see to the deadline.
    public func endsInTime(_ request: Request) -> Bool { false }
    /// Nothing is made ready.
    public func warmUp(_ url: String) {}
    /// Nothing is done.
    public func networkDidChange(to status: NetworkStatus) {}
}
