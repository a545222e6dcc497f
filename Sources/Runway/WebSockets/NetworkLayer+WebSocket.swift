import HTTPTypes

extension NetworkLayer {
    /// Makes a call whose response opens a WebSocket.
    ///
    /// The request is a GET that passes all stages. It has the service's token, cookies and signature, and redirects
    /// are followed. A refused token is renewed once. `https` stands for `wss`. `http` stands for `ws`, and the service
    /// must allow it. The call is in flight until the connection ends. Its deadline covers only the handshake.
    ///
    /// - Throws: The error of the call; ``NetworkError/Kind/invalidResponse`` if the server responded with success but
    ///   did not open a WebSocket, with the response in ``NetworkError/rawData``;
    ///   ``NetworkError/Kind/invalidConfiguration`` if the transport does not support WebSockets.
    package func openWebSocket<E: Endpoint>(
        _ endpoint: E, offering offer: WebSocketOffer, options: CallOptions
    ) async throws(NetworkError) -> WebSocketFlight {
        var options = options
        // The code that opens the WebSocket reconnects by itself. If the call were retried too, the attempts would
        // multiply.
        options.retry = options.retry ?? .off
        let flight = makeFlight(E.self, options)
        flight.recorder.setEndpoint(endpoint)
        do throws(NetworkError) {
            return try await intercepted(endpoint, in: flight) {
                RawData([], response: $0.response)
            } perform: { (endpoint) async throws(NetworkError) in
                var request = try assemble(endpoint, delivery: .streamed, in: flight)
                request.webSocket = offer
                let response = try await send(request, in: flight)
                // Background time is meant for calls that end soon.
                context.grace?.end(flight.id)
                return try open(response, in: flight)
            }
        } catch {
            throw flight.finish(failing: error)
        }
    }

    private func open(_ response: Response, in flight: Flight) throws(NetworkError) -> WebSocketFlight {
        if let error = response.refusal {
            response.webSocket?.close(WebSocketClose(1008))
            throw error
        }
        guard let connection = response.webSocket else {
            if response.refusesWebSocket { throw response.notAWebSocket }
            throw NetworkError(
                .invalidConfiguration, in: .transporting,
                "No WebSocket was opened: the transport does not know them, or a stage responded in its place.",
                status: response.head.status)
        }
        flight.note(WebSocketDecision.opened(connection.agreement))
        do throws(NetworkError) {
            try flight.checkSession(in: .checking)
        } catch {
            connection.abandon(error)
            throw error
        }
        return WebSocketFlight(response.head, connection, in: flight)
    }
}

extension Response {
    /// The error of a handshake to which the server responded with something else, such as a captive portal's page.
    fileprivate var notAWebSocket: NetworkError {
        let type = head.headerFields[.contentType].map { ": its type is \($0)" } ?? ""
        var error = NetworkError(
            .invalidResponse, in: .checking, "The response with status \(head.status.code) opens no WebSocket\(type).",
            status: head.status)
        if case .whole(let rawData) = body { error.rawData = rawData }
        return error
    }
}
