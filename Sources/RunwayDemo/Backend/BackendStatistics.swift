#if Command
    import Synchronization

    /// The requests that the backend has received since it was created, to be compared with the records of its callers.
    package struct BackendStatistics: Sendable, Equatable, Codable {
        /// The requests to one route.
        package struct Route: Sendable, Equatable, Codable {
            /// Requests that arrived.
            package var requests = 0
            /// Requests for which a whole response was made.
            package var responses = 0
            /// Requests abandoned because their connection or stream was closed, or because the backend stopped.
            package var abandoned = 0
            /// The bytes of the bodies of all ``responses``, without heads and framing.
            package var bodyBytes = 0

            /// Requests that are neither completed nor abandoned yet.
            package var inFlight: Int { requests - responses - abandoned }
        }

        /// TCP connections that were accepted.
        package internal(set) var connections = 0

        /// The numbers of each route, by its pattern, such as `/esf/detail/{id}`. All paths that the backend does not
        /// have are under ``unknownRoute``.
        package internal(set) var routes: [String: Route] = [:]

        /// The key of ``routes`` for paths that the backend does not have.
        package static let unknownRoute = "unknown"

        /// Requests in envelopes. They are in none of the ``routes``: the request on the wire is the envelope.
        package internal(set) var mergedRequests = 0

        /// All routes together.
        package var total: Route {
            routes.values.reduce(into: Route()) { sum, route in
                sum.requests += route.requests
                sum.responses += route.responses
                sum.abandoned += route.abandoned
                sum.bodyBytes += route.bodyBytes
            }
        }
    }

    /// The statistics while they are being counted.
    final class StatisticsCounter: Sendable {
        /// Guards the counts.
        private let counts = Mutex(BackendStatistics())

        var current: BackendStatistics {
            counts.withLock { $0 }
        }

        func connectionAccepted() {
            counts.withLock { $0.connections += 1 }
        }

        func requestArrived(at route: String) {
            counts.withLock { $0.routes[route, default: .init()].requests += 1 }
        }

        func mergedRequestArrived() {
            counts.withLock { $0.mergedRequests += 1 }
        }

        func requestCompleted(at route: String, bodyBytes: Int) {
            counts.withLock {
                $0.routes[route, default: .init()].responses += 1
                $0.routes[route, default: .init()].bodyBytes += bodyBytes
            }
        }

        func requestAbandoned(at route: String) {
            counts.withLock { $0.routes[route, default: .init()].abandoned += 1 }
        }
    }
#endif
