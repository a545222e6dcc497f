import HTTPTypes
import Synchronization

/// The answers that a layer keeps by the rules of HTTP caching (RFC 9111), in memory.
///
/// It is a private cache: a stored response is returned only to calls of the same service, environment and account whose requests
/// have equal values in every header field that may authenticate them. These are all fields except those whose standard gives them
/// another meaning, such as `Accept` or `User-Agent`. Without an account, a response is also not returned after the service's cookies
/// have changed. All bounds are in its ``HTTPCacheLimits``.
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
        var floors = HTTPCacheFloors()

        /// Lets go of what an answer that is not kept has shown to be out of date, also of what is under way and older.
        mutating func drop(
            _ uri: HTTPCacheURI, for partition: CachePartition, method: HTTPRequest.Method, fields: HTTPFields,
            ticket: UInt64
        ) {
            floors.change(uri, at: max(ticket, 1) - 1)
            remove(from: uri) {
                $0.partition == partition && $0.ticket < ticket && $0.method == method && $0.vary.matches(fields)
            }
        }

        mutating func remove(from uri: HTTPCacheURI, where shouldRemove: (StoredResponse) -> Bool) {
            guard var target = targets.peek(uri), target.answers.contains(where: shouldRemove) else { return }
            target.answers.removeAll(where: shouldRemove)
            targets.update(target, for: uri)
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

    /// Lets go of everything. No answer of a call that took off before is kept after it.
    public func removeAll() {
        state.withLock { state in
            state.floors.clear(at: orders.draw())
            state.targets.removeAll()
        }
    }

    /// Lets go of what is kept for a service. No answer of a call of it that took off before is kept after it.
    public func removeAll(of service: any APIService.Type) { remove(.service(service.name)) }

    /// Lets go of what is kept for an account, such as one that signs out. No answer of a call of it that took off before is kept after it.
    ///
    /// - Parameter account: The account, see ``ServiceSettings/account``; `nil` is nobody's.
    public func removeAll(ofAccount account: String?) { remove(.account(account, service: nil)) }

    /// Lets go of what is in a scope; of an endpoint's, what is kept for its service, since answers belong to targets here.
    func clear(_ scope: CacheScope) {
        switch scope {
        case .everything: removeAll()
        case .service(let name), .endpoint(_, let name): remove(.service(name))
        case .account(let account, let name): remove(.account(account, service: name))
        }
    }

    /// Lets go of what is kept of a target, whoever it is for. No answer of a call that took off before is kept of it after it.
    func clear(_ uri: HTTPCacheURI) {
        state.withLock { state in
            state.floors.clear(uri, at: orders.draw())
            state.targets.remove(uri)
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

    private func remove(_ owner: HTTPCacheFloors.Owner) {
        state.withLock { state in
            state.floors.clear(owner, at: orders.draw())
            for uri in state.targets.keys { state.remove(from: uri) { owner.covers($0.partition) } }
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
    /// Where it is not kept, those go all the same: whoever was given this answer must not be given an older one next.
    ///
    /// - Parameter mark: What the counter of orders stood at when the call took off that brings the answer.
    /// - Returns: Whether it is kept: not where a newer one is, not where its call took off before a clear of it, and not where its request
    ///   left before a change of the target.
    @discardableResult
    func keep(_ answer: StoredResponse, of uri: HTTPCacheURI, from mark: UInt64) -> Bool {
        state.withLock { state in
            guard state.floors.allow(answer.partition, of: uri, order: answer.ticket, mark: mark) else {
                state.drop(
                    uri, for: answer.partition, method: answer.method, fields: answer.requestFields,
                    ticket: answer.ticket)
                return false
            }
            var target = state.targets.peek(uri) ?? Target()
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
        state.withLock {
            $0.drop(uri, for: partition, method: request.method, fields: request.headerFields, ticket: ticket)
        }
    }

    /// Marks answers as in need of validation.
    func distrust(_ uri: HTTPCacheURI, for partition: CachePartition, tickets: [UInt64]) {
        state.withLock { state in
            guard var target = state.targets.peek(uri) else { return }
            for index in target.answers.indices
            where target.answers[index].partition == partition && tickets.contains(target.answers[index].ticket) {
                target.answers[index].isInvalidated = true
            }
            state.targets.update(target, for: uri)
        }
    }

    /// Lets go of all answers of a target, whoever they are for, and of those whose requests are under way (RFC 9111 §4.4).
    ///
    /// - Returns: How many were kept.
    @discardableResult
    func invalidate(_ uri: HTTPCacheURI) -> Int {
        state.withLock { state in
            state.floors.change(uri, at: orders.draw())
            return state.targets.remove(uri)?.answers.count ?? 0
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
