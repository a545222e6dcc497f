/// The concurrency slots and the queue of calls that wait for one, without continuations or clocks.
struct PriorityQueue {
    /// Every fourth slot goes to the call that has waited longest, whatever its priority.
    static let slotsPerLongestWait = 4

    /// The result of a call's arrival.
    enum Arrival: Equatable {
        /// The call has a slot.
        case enters
        /// The call is in the queue.
        case waits
        /// The queue is full.
        case isRefused
    }

    private let capacity: Int
    private let maximumWaiting: Int
    /// The waiters of each priority, by their numbers, in the order of arrival.
    private var queues: [CallPriority: [UInt64]] = [:]
    /// The number of slots that were passed on to a waiter.
    private var passedCount = 0
    /// The number of occupied slots.
    private(set) var occupied = 0
    /// The number of waiting calls.
    private(set) var waitingCount = 0

    init(capacity: Int, maximumWaiting: Int) {
        self.capacity = capacity
        self.maximumWaiting = maximumWaiting
    }

    /// Occupies a slot if one is free and no call waits for it.
    mutating func enterAtOnce(_ priority: CallPriority) -> Bool {
        guard priority == .urgent || occupied < capacity && waitingCount == 0 else { return false }
        occupied += 1
        return true
    }

    /// Occupies a slot, or enqueues a call. `number` must be greater than all earlier numbers.
    ///
    /// - Parameter isReturning: Whether the call had a slot before. It is enqueued even if the queue is full.
    mutating func arrive(_ number: UInt64, _ priority: CallPriority, isReturning: Bool = false) -> Arrival {
        if enterAtOnce(priority) { return .enters }
        guard waitingCount < maximumWaiting || isReturning else { return .isRefused }
        queues[priority, default: []].append(number)
        waitingCount += 1
        return .waits
    }

    /// Releases a slot. Returns the number of the waiter that occupies it now, if there is one.
    mutating func leave() -> UInt64? {
        occupied -= 1
        guard occupied < capacity, waitingCount > 0, let priority = nextPriority() else { return nil }
        passedCount += 1
        occupied += 1
        waitingCount -= 1
        return queues[priority]?.removeFirst()
    }

    /// Removes a waiter from the queue; returns `false` if the number is not in it.
    mutating func abandon(_ number: UInt64) -> Bool {
        for (priority, queue) in queues {
            guard let index = queue.firstIndex(of: number) else { continue }
            queues[priority]?.remove(at: index)
            waitingCount -= 1
            return true
        }
        return false
    }

    /// Raises the priority of a waiter, which then waits behind earlier waiters of that priority.
    ///
    /// - Returns: Whether the call has a slot now: an urgent call always gets one.
    mutating func raise(_ number: UInt64, to priority: CallPriority) -> Bool {
        guard let old = queues.first(where: { $0.value.contains(number) })?.key, old < priority else { return false }
        queues[old]?.removeAll { $0 == number }
        if priority == .urgent {
            waitingCount -= 1
            occupied += 1
            return true
        }
        var queue = queues[priority] ?? []
        queue.insert(number, at: queue.firstIndex { $0 > number } ?? queue.endIndex)
        queues[priority] = queue
        return false
    }

    private func nextPriority() -> CallPriority? {
        let waiting = queues.filter { !$0.value.isEmpty }
        guard passedCount % Self.slotsPerLongestWait == Self.slotsPerLongestWait - 1 else { return waiting.keys.max() }
        return waiting.min { ($0.value.first ?? .max) < ($1.value.first ?? .max) }?.key
    }
}
