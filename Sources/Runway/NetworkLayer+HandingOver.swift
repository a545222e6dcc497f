import Synchronization

/// A transport that records the request instead of sending it.
private final class RequestCapture: Transport {
    /// Guards the recorded request.
    let request = Mutex<Request?>(nil)

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        self.request.withLock { $0 = request }
        // The error is a cancellation, so no stage retries the call or counts it as a failure of the host.
        throw NetworkError(.cancelled, in: .transporting, "The system sends the request.", sending: .notSent)
    }
}

extension NetworkLayer {
    /// Returns the request of an endpoint as the stages create it, with token, cookies and signature. The layer does
    /// not send the request; the caller does. The call's record ends when the request is complete.
    ///
    /// The interceptors' hooks before and after the call's start are called. If no request can be created, the hooks
    /// for a failure are also called. The hooks for a response are not called.
    ///
    /// - Throws: The error of a stage that refuses the call, or of the renewal of a token.
    @concurrent func requestToHandOver<E: Endpoint>(
        _ endpoint: E, options: CallOptions
    ) async throws(NetworkError) -> Request {
        var options = options
        (options.cache, options.retry) = (.off, .off)
        let flight = makeFlight(E.self, options)
        flight.recorder.setEndpoint(endpoint)
        do throws(NetworkError) {
            let request =
                if let hooks = CallHooks(interceptors, of: flight) {
                    try await hooks.around(endpoint, hasLanding: false) { _ in
                        nil
                    } perform: { (endpoint) async throws(NetworkError) in
                        try await captured(endpoint, in: flight)
                    }
                } else {
                    try await captured(prepared(endpoint), in: flight)
                }
            flight.note("handedOver", "handed over to the system", in: .transporting)
            flight.finish(.succeeded)
            return request
        } catch {
            throw flight.finish(failing: error)
        }
    }

    /// Returns the request of a checked endpoint as the stages create it.
    private func captured<E: Endpoint>(_ endpoint: E, in flight: Flight) async throws(NetworkError) -> Request {
        // A streamed response is requested because such a request is neither shared with other calls nor merged into a
        // larger request.
        let request = try assemble(endpoint, delivery: .streamed, in: flight)
        let capture = RequestCapture()
        do throws(NetworkError) {
            _ = try await chain.send(request, in: flight, over: TransportLink(capture))
        } catch {
            guard let request = capture.request.withLock({ $0 }) else { throw error }
            return request
        }
        throw NetworkError(
            .invalidConfiguration, in: .transporting,
            "A stage responds to the request, which therefore can't be handed over to the system.")
    }
}
