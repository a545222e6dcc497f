import Synchronization

extension ResponseCache {
    /// Lets go of all answers, in memory and in the tier below.
    public func clear() { clear(.everything) }

    /// Lets go of the answers of a service, in every environment and for every account.
    public func clear<Service: APIService>(_ service: Service.Type) { clear(.service(service.name)) }

    /// Lets go of the answers of an endpoint, whatever its parameters were.
    public func clear<E: Endpoint>(_ endpoint: E.Type) { clear(.endpoint(E.name, service: E.Service.name)) }

    /// Lets go of the answers of an account, for when it signs out.
    ///
    /// - Parameters:
    ///   - account: The account, as it stood in ``ServiceSettings/account``.
    ///   - service: The service that it signed out of; `nil` is all of them.
    public func clear(account: String, of service: (any APIService.Type)? = nil) {
        clear(.account(account, service: service?.name))
    }

    /// Lets go of the answers in a scope.
    ///
    /// No answer of a call that took off before is kept in that scope after it, and no call that takes off after it shares the request
    /// of one that took off before.
    public func clear(_ scope: CacheScope) {
        memory.withLock { memory in
            memory.floors.raise(scope, to: drawOrder())
            if scope == .everything {
                memory.answers.removeAll()
            } else {
                memory.answers.removeAll { key, _ in scope.covers(key) }
            }
            if tier != nil { memory.writeBehind.add(.clear(scope)) }
        }
        background.cancel { scope.covers($0) }
        http.clear(scope)
        onClear(scope)
        startWriteBehind()
    }

    /// Lets go of one key's answer, and keeps none of a call that took off before.
    func clear(_ key: CacheKey) {
        memory.withLock { memory in
            memory.floors.raise(key, to: drawOrder())
            memory.answers.remove(key)
            if tier != nil { memory.writeBehind.add(.remove(key)) }
        }
        background.cancel { $0 == key }
        startWriteBehind()
    }

    /// Lets go of the least recently used answers in memory until at most this much is left. The tier below is left alone.
    ///
    /// - Parameters:
    ///   - count: The most answers. The default is as many as there are.
    ///   - byteCount: The most bytes. The default is as many as there are.
    public func trim(toCount count: Int = .max, byteCount: Int = .max) {
        memory.withLock { $0.answers.trim(toCount: max(0, count), byteCount: max(0, byteCount)) }
    }

    /// How badly the system wants memory back.
    public enum MemoryPressure: Sendable, Hashable {
        /// It would like some: half of what is held goes.
        case warning
        /// It will end apps: everything goes.
        case critical
    }

    /// Gives memory back. On Apple's systems the layer does it when the system asks; elsewhere the app calls it.
    public func relieveMemory(_ pressure: MemoryPressure = .warning) {
        memory.withLock { memory in
            switch pressure {
            case .warning:
                memory.answers.trim(toCount: memory.answers.count / 2, byteCount: memory.answers.byteCount / 2)
            case .critical: memory.answers.removeAll()
            }
        }
        http.relieveMemory(pressure)
    }
}
