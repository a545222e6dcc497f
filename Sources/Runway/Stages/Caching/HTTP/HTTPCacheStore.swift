import HTTPTypes
import Synchronization

/// The answers that a layer keeps by the rules of HTTP caching (RFC 9111), in memory.
///
/// It is a private cache: what is kept is given to calls of the same service, environment and account alone; where no account is set, of
/// the same `Authorization` and `Cookie` that the callers wrote. All bounds are in its ``HTTPCacheLimits``.
public final class HTTPCacheStore: Sendable {
    /// How much is kept.
    public let limits: HTTPCacheLimits

    fileprivate struct Target {
        /// The oldest first.
        var answers: [StoredResponse] = []

        var byteCount: Int { answers.reduce(0) { $0 + $1.byteCount } }
    }

    fileprivate struct State {
        var targets: LeastRecentlyUsed<HTTPCacheURI, Target>
        /// The ticket before which no request's answer may be kept, since the store was cleared in between.
        var clearedAt: UInt64 = 0
        /// The same for single targets, since a change of the target came between. Few: it matters only while answers are under way.
        var changedAt = LeastRecentlyUsed<HTTPCacheURI, UInt64>(maximumCount: 256, maximumByteCount: 0)

        /// Nothing that was asked for at this ticket or before is kept of a target any more.
        mutating func note(_ uri: HTTPCacheURI, changedAt ticket: UInt64) {
            let known = changedAt.peek(uri)
            if known == nil, changedAt.count == changedAt.maximumCount, let oldest = changedAt.oldestValue {
                // What is forgotten of one target holds for all.
                clearedAt = max(clearedAt, oldest)
            }
            changedAt.insert(max(known ?? 0, ticket), for: uri, byteCount: 0)
        }
    }

    /// Guards what is kept, and the count of requests.
    private let state: Mutex<State>

    private let orders: RequestOrders

    init(limits: HTTPCacheLimits, orders: RequestOrders = RequestOrders()) {
        self.limits = limits
        self.orders = orders
        state = Mutex(
            State(
                targets: LeastRecentlyUsed(
                    maximumCount: limits.maximumTargets, maximumByteCount: limits.maximumByteCount)))
    }

    /// The number of answers that are kept. Counting takes time in proportion to it.
    public var count: Int {
        state.withLock { state in state.targets.keys.reduce(0) { $0 + (state.targets.peek($1)?.answers.count ?? 0) } }
    }

    /// The bytes that are kept: bodies, the indexes of those that are JSON, and header fields together.
    public var byteCount: Int { state.withLock { $0.targets.byteCount } }

    /// Lets go of everything. Nothing that was asked for before is kept after it.
    public func removeAll() {
        state.withLock { state in
            state.clearedAt = orders.draw()
            state.targets.removeAll()
        }
    }

    /// Lets go of what is kept for a service. Nothing that was asked for before is kept after it, whatever service it was asked of.
    public func removeAll(of service: any APIService.Type) {
        let service = ObjectIdentifier(service)
        remove { $0.partition.service == service }
    }

    /// Lets go of what is kept for an account, such as one that signs out. Nothing that was asked for before is kept after it.
    ///
    /// - Parameter account: The account, see ``ServiceSettings/account``; `nil` is nobody's.
    public func removeAll(ofAccount account: String?) {
        remove { $0.partition.account == account }
    }

    /// Lets go of what is in a scope; of an endpoint's, what is kept for its service, since answers belong to targets here.
    func clear(_ scope: CacheScope) {
        switch scope {
        case .everything: removeAll()
        case .service(let name), .endpoint(_, let name): remove { $0.partition.serviceName == name }
        case .account(let account, let name):
            remove { $0.partition.account == account && (name ?? $0.partition.serviceName) == $0.partition.serviceName }
        }
    }

    /// Gives memory back: the least recently used half, or all.
    func relieveMemory(_ pressure: ResponseCache.MemoryPressure) {
        state.withLock { state in
            switch pressure {
            case .warning: state.targets.trim(toCount: state.targets.count / 2, byteCount: state.targets.byteCount / 2)
            case .critical: state.targets.removeAll()
            }
        }
    }

    private func remove(where shouldRemove: (StoredResponse) -> Bool) {
        state.withLock { state in
            state.clearedAt = orders.draw()
            for uri in state.targets.keys {
                guard var target = state.targets.peek(uri), target.answers.contains(where: shouldRemove) else {
                    continue
                }
                target.answers.removeAll(where: shouldRemove)
                state.targets.update(target, for: uri)
            }
        }
    }
}

extension HTTPCacheStore {
    /// Counts a request that is about to be sent.
    func takeTicket() -> UInt64 { orders.draw() }

    /// What is kept of a target for someone.
    func answers(of uri: HTTPCacheURI, for partition: CachePartition) -> [StoredResponse] {
        let answers = state.withLock { $0.targets.value(for: uri)?.answers } ?? []
        return answers.filter { $0.partition == partition }
    }

    /// Keeps an answer in the place of the older ones that serve the same request.
    ///
    /// - Returns: Whether it is kept: not where a newer one is, and not where the target was cleared or changed since its request.
    @discardableResult
    func keep(_ answer: StoredResponse, of uri: HTTPCacheURI) -> Bool {
        state.withLock { state in
            var target = state.targets.peek(uri) ?? Target()
            guard answer.ticket > state.clearedAt, answer.ticket > state.changedAt.peek(uri) ?? 0 else { return false }
            guard
                let merged = StoredResponseMerging.merged(
                    answer, into: target.answers, upTo: limits.maximumBodyByteCount)
            else { return false }
            target.answers = merged
            while target.answers.count > limits.maximumVariants
                || target.byteCount > limits.maximumByteCount && target.answers.count > 1
            {
                target.answers.removeFirst()
            }
            state.targets.update(target, for: uri)
            return true
        }
    }

    /// Lets go of what an answer that is not kept has shown to be out of date, also of what is under way and older.
    func drop(_ uri: HTTPCacheURI, for partition: CachePartition, matching request: HTTPRequest, ticket: UInt64) {
        if request.method == .get || request.method == .head {
            state.withLock { $0.note(uri, changedAt: max(ticket, 1) - 1) }
        }
        change(uri) { target in
            target.answers.removeAll {
                $0.partition == partition && $0.ticket < ticket && $0.method == request.method
                    && $0.vary.matches(request.headerFields)
            }
        }
    }

    /// Marks answers as in need of validation.
    func distrust(_ uri: HTTPCacheURI, for partition: CachePartition, tickets: [UInt64]) {
        change(uri) { target in
            for index in target.answers.indices
            where target.answers[index].partition == partition && tickets.contains(target.answers[index].ticket) {
                target.answers[index].isInvalidated = true
            }
        }
    }

    /// Lets go of all answers of a target, whoever they are for, and of those that are under way (RFC 9111 §4.4).
    ///
    /// - Returns: How many were kept.
    @discardableResult
    func invalidate(_ uri: HTTPCacheURI) -> Int {
        state.withLock { state in
            state.note(uri, changedAt: orders.draw())
            return state.targets.remove(uri)?.answers.count ?? 0
        }
    }

    private func change(_ uri: HTTPCacheURI, _ change: (inout Target) -> Void) {
        state.withLock { state in
            guard var target = state.targets.peek(uri) else { return }
            change(&target)
            state.targets.update(target, for: uri)
        }
    }
}

extension LeastRecentlyUsed<HTTPCacheURI, HTTPCacheStore.Target> {
    fileprivate mutating func update(_ target: HTTPCacheStore.Target, for uri: HTTPCacheURI) {
        if target.answers.isEmpty {
            remove(uri)
        } else {
            insert(target, for: uri, byteCount: target.byteCount + uri.text.utf8.count)
        }
    }
}
