import Synchronization

extension ResponseCache {
    /// Removes all responses, in memory and on disk.
    public func clear() { clear(.everything) }

    /// Removes the responses of a service, in every environment and for every account.
    public func clear<Service: APIService>(_ service: Service.Type) { clear(.service(service.name)) }

    /// Removes the responses of an endpoint, whatever its parameters were.
    public func clear<E: Endpoint>(_ endpoint: E.Type) { clear(.endpoint(E.name, service: E.Service.name)) }

    /// Removes the responses of an account, for example when it signs out.
    ///
    /// - Parameters:
    ///   - account: The account, as in ``ServiceSettings/account``; `nil` for calls without an account.
    ///   - service: The service that it signed out of; `nil` is all of them.
    public func clear(account: String?, of service: (any APIService.Type)? = nil) {
        clear(.account(account, service: service?.name))
    }

    /// Removes the responses in a scope.
    ///
    /// Responses to calls that started before the clear are never stored, and calls that start after it do not share
    /// requests that were sent before it. Responses stored by ``CachePolicy/http(onDisk:)`` belong to targets and not
    /// to endpoints, so that a clear of an endpoint removes the HTTP responses of its whole service.
    public func clear(_ scope: CacheScope) { remove(scope) }

    /// Removes the responses in a scope; see ``clear(_:)-(CacheScope)``. Returns how many were in memory.
    @discardableResult
    func remove(_ scope: CacheScope) -> Int {
        defer {
            background.cancel { scope.covers($0) }
            startWriteBehind()
        }
        return state.withLock { state in
            let former = state.count
            state.generations.clear(scope, at: nextSequenceNumber())
            if scope == .everything {
                state.entries.removeAll()
                state.targets.removeAll()
            } else {
                state.entries.removeAll { key, _ in scope.covers(key) }
                for uri in state.targets.keys { state.remove(from: uri) { scope.covers($0.partition) } }
            }
            if tier != nil { state.writeBehind.add(.clear(scope)) }
            reads.close { $0.isCovered(by: scope) }
            return former - state.count
        }
    }

    /// Removes the response of one key, and all responses of its target. Responses to calls that started before are
    /// never stored. Returns how many were in memory.
    @discardableResult
    func remove(_ key: CacheKey?, of target: HTTPCacheURI) -> Int {
        defer {
            if let key { background.cancel { $0 == key } }
            startWriteBehind()
        }
        return state.withLock { state in
            var count = 0
            let sequenceNumber = nextSequenceNumber()
            if let key {
                state.generations.clear(key, at: sequenceNumber)
                if state.entries.remove(key) != nil { count += 1 }
                if tier != nil { state.writeBehind.add(.remove(.call(key))) }
            }
            state.generations.clear(target, at: sequenceNumber)
            count += state.targets.remove(target)?.responses.count ?? 0
            if tier != nil { state.writeBehind.add(.removeTarget(target)) }
            reads.close { HTTPCacheURI($0.head) == target }
            return count
        }
    }

    /// Evicts least recently used responses, other than those of ``CachePolicy/http(onDisk:)``, until the rest fits.
    /// The disk tier stays unchanged.
    ///
    /// - Parameters:
    ///   - count: The most responses. The default is no limit.
    ///   - byteCount: Their most bytes. The default is no limit.
    public func trim(toCount count: Int = .max, byteCount: Int = .max) {
        state.withLock { $0.entries.trim(toCount: max(0, count), byteCount: max(0, byteCount)) }
    }

    /// Evicts half of the responses in memory, or all of them. On Apple's systems the layer calls it when the system
    /// asks for memory; elsewhere the app does.
    ///
    /// - Parameter isCritical: Whether all are evicted, and not only the less recently used half. The default is
    ///   `false`.
    public func relieveMemory(isCritical: Bool = false) {
        state.withLock { state in
            if isCritical {
                state.entries.removeAll()
                state.targets.removeAll()
            } else {
                state.entries.trim(toCount: state.entries.count / 2, byteCount: state.entries.byteCount / 2)
                state.targets.trim(toCount: state.targets.count / 2, byteCount: state.targets.byteCount / 2)
            }
        }
    }
}
