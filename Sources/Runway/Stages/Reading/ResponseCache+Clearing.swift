import Synchronization

extension ResponseCache {
    /// Removes all responses, in memory and on disk.
    public func clear() { clear(.everything) }

    /// Removes the responses of a service, in every environment and for every account.
    public func clear<Service: APIService>(_ service: Service.Type) { clear(.service(service.name)) }

    /// Removes the responses of an endpoint, for all its parameters.
    public func clear<E: Endpoint>(_ endpoint: E.Type) { clear(.endpoint(E.name, service: E.Service.name)) }

    /// Removes the responses of an account, for example when it signs out.
    ///
    /// - Parameters:
    ///   - account: The account, as in ``ServiceSettings/account``; `nil` for calls without an account.
    ///   - service: The service that the account signed out of; `nil` for all services.
    public func clear(account: String?, of service: (any APIService.Type)? = nil) {
        clear(.account(account, service: service?.name))
    }

    /// Removes the responses in a scope.
    ///
    /// Responses to calls that started before the clear are not stored afterwards. Calls that start after the clear do
    /// not share requests that were sent before it. Responses stored by ``CachePolicy/http(onDisk:)`` belong to
    /// targets, not to endpoints. Clearing an endpoint therefore removes the HTTP responses of its whole service.
    public func clear(_ scope: CacheScope) { remove(scope) }

    /// Removes the responses in a scope; see ``clear(_:)-(CacheScope)``. Returns the number of responses removed from
    /// memory.
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

    /// Removes the response under a key, and all responses of its target. Responses to calls that started before the
    /// removal are not stored afterwards. Returns the number of responses removed from memory.
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

    /// Evicts least recently used responses from memory until both limits are met. Responses of
    /// ``CachePolicy/http(onDisk:)`` and the disk tier are not affected.
    ///
    /// - Parameters:
    ///   - count: The maximum number of responses. The default is no limit.
    ///   - byteCount: The maximum number of bytes of all responses together. The default is no limit.
    public func trim(toCount count: Int = .max, byteCount: Int = .max) {
        state.withLock { $0.entries.trim(toCount: max(0, count), byteCount: max(0, byteCount)) }
    }

    /// Evicts half of the responses in memory, or all of them. On Apple's systems the layer calls this function when
    /// the system asks for memory. On other systems the app calls it.
    ///
    /// - Parameter isCritical: Whether all responses are evicted. The default is `false`: only the less recently used
    ///   half is evicted.
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
