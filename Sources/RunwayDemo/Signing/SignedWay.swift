#if Command
    import HTTPTypes
    import Runway
    import RunwayJSON
    import RunwayTransport
    import Synchronization

    /// A transport that simulates an attacker on the network path, who can store and change requests.
    ///
    /// Like a proxy that terminates TLS, it connects to the server's port. The request names the public authority.
    final class SignedWay: Transport {
        private struct State {
            var last: Request?
            var nextBody: [UInt8]?
            var reasons: [String] = []
        }

        private let wire: NIOTransport
        private let authority: String
        /// Guards the last request, the body for the next request, and the reasons for refusals.
        private let state = Mutex(State())

        init(wire: NIOTransport, port: Int) {
            self.wire = wire
            authority = "127.0.0.1:\(port)"
        }

        /// The last request, as it was signed.
        var lastRequest: Request? { state.withLock { $0.last } }

        func changeNextBody(to body: [UInt8]) { state.withLock { $0.nextBody = body } }

        /// Returns the reasons for refusals since the last call of this function: each has the status and a word.
        func takeReasons() -> [String] {
            state.withLock { state in
                defer { state.reasons = [] }
                return state.reasons
            }
        }

        func endsInTime(_ request: Request) -> Bool { wire.endsInTime(request) }

        func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
            var request = request
            state.withLock { state in
                state.last = request
                if let body = state.nextBody { request.body = .bytes(body) }
                state.nextBody = nil
            }
            request.head.authority = authority
            let response = try await wire.send(request, in: flight)
            if case .whole(let rawData) = response.body, let reason = rawData["reason"].string {
                state.withLock { $0.reasons.append("\(response.head.status.code) \(reason)") }
            }
            return response
        }
    }
#endif
