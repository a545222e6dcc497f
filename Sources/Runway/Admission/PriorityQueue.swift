/// The state machine of the concurrency slots: counts the occupied slots and queues the calls that wait for one.
struct PriorityQueue {
    /// Every fourth slot goes to the call that has waited longest, whatever its priority.
    static let slotsPerLongestWait = 4

    enum Arrival: Equatable {
        case enters
        case waits
        case isRefused
    }

    private let capacity: Int
    private let maximumWaiting: Int
    /// The numbers of the waiters of each priority, in the order of arrival.
    private var queues: [CallPriority: [UInt64]] = [:]
    /// The number of released slots that were passed to a waiter.
    private var passedCount = 0
    private(set) var occupied = 0
    private(set) var waitingCount = 0

    init(capacity: Int, maximumWaiting: Int) {
        self.capacity = capacity
        self.maximumWaiting = maximumWaiting
    }

    /// Occupies a slot if one is free and no call waits. Returns `false` otherwise.
    mutating func enterAtOnce(_ priority: CallPriority) -> Bool {
        guard priority == .urgent || occupied < capacity && waitingCount == 0 else { return false }
        occupied += 1
        return true
    }

    /// Occupies a slot, or enqueues the call. `number` must be greater than all earlier numbers.
    ///
    /// - Parameter isReturning: Whether the call had a slot before. Such a call is enqueued even if the queue is full.
    mutating func arrive(_ number: UInt64, _ priority: CallPriority, isReturning: Bool = false) -> Arrival {
        if enterAtOnce(priority) { return .enters }
        guard waitingCount < maximumWaiting || isReturning else { return .isRefused }
        queues[priority, default: []].append(number)
        waitingCount += 1
        return .waits
    }

    /// Releases a slot. If a call waits, the slot passes to that call, and the function returns the call's number.
    mutating func leave() -> UInt64? {
        occupied -= 1
        guard occupied < capacity, waitingCount > 0, let priority = nextPriority() else { return nil }
        passedCount += 1
        occupied += 1
        waitingCount -= 1
        return queues[priority]?.removeFirst()
    }

    /// Removes a waiter from the queue. Returns `false` if the number is not in the queue.
    mutating func abandon(_ number: UInt64) -> Bool {
        for (priority, queue) in queues {
            guard let index = queue.firstIndex(of: number) else { continue }
            queues[priority]?.remove(at: index)
            waitingCount -= 1
            return true
        }
        return false
    }

    /// Raises the priority of a waiter. The waiter is placed behind earlier waiters of the new priority.
    ///
    /// - Returns: Whether the waiter now has a slot. A call with urgent priority always gets one.
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
