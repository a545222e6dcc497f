#if canImport(Darwin)
    import Foundation
    import HTTPTypes
    import Synchronization

    extension URLSessionTransport {
        /// Performs the handshake of a WebSocket with a task of the session.
        ///
        /// - Returns: The response with the open WebSocket. If the server refuses the handshake, the result is the
        ///   server's response without its body.
        /// - Throws: The transport's error.
        func openWebSocket(
            _ request: Request, _ offer: WebSocketOffer, in flight: Flight
        ) async throws(NetworkError) -> Response {
            do {
                let task = session.webSocketTask(with: try request.webSocketRequest(offer))
                task.maximumMessageSize = max(0, offer.maximumMessageByteCount)
                let link = URLSessionWebSocketLink(task, for: request, offer, in: flight)
                relay.webSockets.withLock { $0[ObjectIdentifier(task)] = link }
                task.resume()
                let outcome = try await flight.withDeadlineHandler {
                    try await link.handshake()
                } onDeadline: {
                    link.stop(URLError(.timedOut))
                }
                var response = Response(head: outcome.head, body: .whole(RawData([], response: outcome.head)))
                if let agreement = outcome.agreement {
                    response.webSocket = URLSessionWebSocket(link, agreement, to: request.head.authority)
                }
                response.refusesWebSocket = response.webSocket == nil
                return response
            } catch {
                throw NetworkError(session: error, from: request.head.authority)
            }
        }
    }

    extension URLSessionRelay: URLSessionWebSocketDelegate {
        func webSocket(of task: URLSessionTask) -> URLSessionWebSocketLink? {
            webSockets.withLock { $0[ObjectIdentifier(task)] }
        }

        func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
        ) {
            webSocket(of: webSocketTask)?.opened(`protocol`, webSocketTask.response as? HTTPURLResponse)
        }

        func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
            didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
        ) {
            webSocket(of: webSocketTask)?.closed(closeCode, reason)
        }
    }

    extension Request {
        /// Returns the request of a handshake in Foundation's form, without the fields that the system sets itself.
        ///
        /// - Throws: `URLError` if the URL can't be used.
        fileprivate func webSocketRequest(_ offer: WebSocketOffer) throws -> URLRequest {
            var request = self
            request.head.scheme = head.scheme?.lowercased() == "https" ? "wss" : "ws"
            for name in [HTTPField.Name.connection, .upgrade, .secWebSocketKey, .secWebSocketVersion] {
                request.head.headerFields[name] = nil
            }
            // The system can't compress messages, so the server must not agree to compression.
            request.head.headerFields[.secWebSocketExtensions] = nil
            request.head.headerFields[.secWebSocketProtocol] =
                offer.subprotocols.isEmpty ? nil : offer.subprotocols.joined(separator: ", ")
            var urlRequest = try request.urlRequest()
            // The call's deadline limits the handshake. A quiet WebSocket is not idle, because its owner sends pings.
            urlRequest.timeoutInterval = 7 * 86_400
            return urlRequest
        }
    }
#endif
