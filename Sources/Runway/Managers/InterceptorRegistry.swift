import Synchronization

/// The interceptors of a layer in the order in which they were added. They are referenced weakly.
final class InterceptorRegistry: Sendable {
    private struct List {
        var members: [WeakInterceptor] = []
        /// When the list reaches this number of members, ``add(_:)`` removes members whose interceptors were released.
        var limit = 16

        mutating func add(_ interceptor: any Interceptor) {
            if members.count >= limit {
                members.removeAll { $0.interceptor == nil }
                limit = max(16, 2 * members.count)
            }
            members.append(WeakInterceptor(interceptor: interceptor))
        }
    }

    private struct WeakInterceptor {
        weak var interceptor: (any Interceptor)?
    }

    /// Whether an interceptor was ever added. If not, calls read only this flag and take no lock.
    private let isUsed = Atomic(false)
    /// Guards the interceptors of each endpoint. The key `nil` stands for all endpoints.
    private let lists = Mutex<[ObjectIdentifier?: List]>([:])

    /// Returns the interceptors for a call: first the interceptors for all endpoints, then the interceptors for the
    /// call's endpoint.
    func all(of endpoint: any Endpoint.Type) -> [any Interceptor] {
        if !isUsed.load(ordering: .acquiring) { return [] }
        return lists.withLock { lists in
            [lists[nil], lists[ObjectIdentifier(endpoint)]].flatMap { $0?.members ?? [] }.compactMap(\.interceptor)
        }
    }

    /// Adds an interceptor for one endpoint, or for all endpoints if `endpoint` is `nil`.
    func add(_ interceptor: any Interceptor, for endpoint: (any Endpoint.Type)?) {
        lists.withLock { $0[endpoint.map { ObjectIdentifier($0) }, default: List()].add(interceptor) }
        isUsed.store(true, ordering: .releasing)
    }

    /// Removes an interceptor for one endpoint, or for all endpoints if `endpoint` is `nil`.
    func remove(_ interceptor: any Interceptor, for endpoint: (any Endpoint.Type)?) {
        lists.withLock { lists in
            lists[endpoint.map { ObjectIdentifier($0) }]?.members.removeAll {
                $0.interceptor == nil || $0.interceptor === interceptor
            }
        }
    }

    /// The number of entries, including entries of released interceptors that have not been removed yet.
    var count: Int { lists.withLock { $0.values.reduce(0) { $0 + $1.members.count } } }
}

extension NetworkLayer {
    /// Adds an interceptor for every call of the layer: calls of managers, transfers, prefetches, and calls without a
    /// manager.
    ///
    /// The layer references the interceptor weakly. Interceptors are called in the order in which they are added: first
    /// the interceptors for every call, then the interceptors for the call's endpoint, then the interceptor of the
    /// manager. An interceptor that is added twice is called twice.
    @MainActor
    public func add(_ interceptor: any Interceptor) { interceptors.add(interceptor, for: nil) }

    /// Adds an interceptor for every call of one endpoint. It is called after the interceptors for every call; see
    /// ``add(_:)``.
    @MainActor
    public func add<E: Endpoint>(_ interceptor: any Interceptor, for endpoint: E.Type) {
        interceptors.add(interceptor, for: endpoint)
    }

    /// Removes an interceptor that was added for every call. It is no longer called, not even for calls in flight.
    @MainActor
    public func remove(_ interceptor: any Interceptor) { interceptors.remove(interceptor, for: nil) }

    /// Removes an interceptor that was added for the calls of one endpoint.
    @MainActor
    public func remove<E: Endpoint>(_ interceptor: any Interceptor, for endpoint: E.Type) {
        interceptors.remove(interceptor, for: endpoint)
    }
}
