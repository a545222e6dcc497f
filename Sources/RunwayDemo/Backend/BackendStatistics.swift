#if Command
    import Synchronization

    /// The counts of requests that the backend has received since its creation. The demo compares them with its
    /// records.
    package struct BackendStatistics: Sendable, Equatable, Codable {
        /// The counts of one route.
        package struct Route: Sendable, Equatable, Codable {
            package var requests = 0
            /// The number of requests for which a response was created.
            package var responses = 0
            /// The number of requests that ended early: their connection or stream was closed, or the backend stopped.
            package var abandoned = 0
            /// The total size of the bodies of all ``responses`` in bytes, without heads and framing.
            package var bodyBytes = 0

            /// The number of requests in progress.
            package var inFlight: Int { requests - responses - abandoned }
        }

        /// The number of accepted TCP connections.
        package internal(set) var connections = 0

        /// The counts of each route, by its pattern, such as `/esf/detail/{id}`. All unknown paths are counted under
        /// ``unknownRoute``.
        package internal(set) var routes: [String: Route] = [:]

        /// The key of ``routes`` for unknown paths.
        package static let unknownRoute = "unknown"

        /// The number of requests that arrived in a merged request. ``routes`` counts the merged request instead.
        package internal(set) var mergedRequests = 0

        package var total: Route {
            routes.values.reduce(into: Route()) { sum, route in
                sum.requests += route.requests
                sum.responses += route.responses
                sum.abandoned += route.abandoned
                sum.bodyBytes += route.bodyBytes
            }
        }
    }

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
