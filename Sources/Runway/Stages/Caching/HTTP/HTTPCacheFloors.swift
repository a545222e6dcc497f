/// How late an answer has to be to be kept by the rules of HTTP, after clears and after changes of targets.
///
/// A clear holds for the calls that took off before it, also where their requests left after it; a change for the requests that left
/// before it. What is remembered is bounded, and what is forgotten of one holds for all. That can only keep too little, never too much.
struct HTTPCacheFloors {
    /// Whose answers are cleared.
    enum Owner: Hashable {
        /// Those of the service of this name.
        case service(String)
        /// Those of an account, or nobody's; of one service or, with `nil`, of all.
        case account(String?, service: String?)

        /// Whether what is kept in a partition is meant.
        func covers(_ partition: CachePartition) -> Bool {
            switch self {
            case .service(let name): partition.serviceName == name
            case .account(let account, let name):
                partition.account == account && (name ?? partition.serviceName) == partition.serviceName
            }
        }
    }

    private struct Floor {
        /// The order that a request has to be above.
        var order: UInt64 = 0
        /// The order that neither a request nor the mark of its call may be below.
        var mark: UInt64 = 0

        mutating func raise(to other: Floor) {
            order = max(order, other.order)
            mark = max(mark, other.mark)
        }
    }

    /// The most owners, and the most targets, that are remembered one by one.
    static let maximumCount = 256

    private var general = Floor()
    private var owners: [Owner: UInt64] = [:]
    private var targets = LeastRecentlyUsed<HTTPCacheURI, Floor>(
        maximumCount: HTTPCacheFloors.maximumCount, maximumByteCount: 0)

    /// Nothing is kept of a call that took off before `order`.
    mutating func clear(at order: UInt64) {
        general.mark = order
        owners = [:]
    }

    /// Nothing is kept for an owner of a call that took off before `order`.
    mutating func clear(_ owner: Owner, at order: UInt64) {
        if owners.count >= Self.maximumCount, owners[owner] == nil { return clear(at: order) }
        owners[owner] = order
    }

    /// Nothing is kept of a target of a call that took off before `order`.
    mutating func clear(_ target: HTTPCacheURI, at order: UInt64) { raise(target, to: Floor(mark: order)) }

    /// Nothing is kept of a target whose request left at `order` or before.
    mutating func change(_ target: HTTPCacheURI, at order: UInt64) { raise(target, to: Floor(order: order)) }

    /// Whether an answer may be kept.
    ///
    /// - Parameters:
    ///   - partition: Whose it is.
    ///   - target: What it is of.
    ///   - order: The order of the request that fetched it.
    ///   - mark: What the counter of orders stood at when the call took off that brings it.
    func allow(_ partition: CachePartition, of target: HTTPCacheURI, order: UInt64, mark: UInt64) -> Bool {
        // A call that joined the request of an earlier one brings an answer that is older than itself.
        let oldest = min(order, mark)
        var floor = general
        if let own = targets.peek(target) { floor.raise(to: own) }
        return order > floor.order && oldest >= floor.mark
            && owners.allSatisfy { $0.value <= oldest || !$0.key.covers(partition) }
    }

    private mutating func raise(_ target: HTTPCacheURI, to floor: Floor) {
        var raised = floor
        if let known = targets.peek(target) {
            raised.raise(to: known)
        } else if targets.count == targets.maximumCount, let oldest = targets.oldestValue {
            general.raise(to: oldest)
        }
        targets.insert(raised, for: target, byteCount: 0)
    }
}
