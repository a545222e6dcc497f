/// The places in the air and the line of those who wait for one, without continuations or clocks.
struct PriorityLine {
    /// Every how many turns it is that of whoever has waited longest, whatever the priority.
    static let turnsPerLongestWait = 4

    /// What becomes of a call that arrives.
    enum Arrival: Equatable {
        /// It has a place.
        case enters
        /// It stands in the line.
        case waits
        /// The line is full.
        case isRefused
    }

    private let capacity: Int
    private let maximumWaiting: Int
    /// Who waits, by priority, in the order of arrival; tickets count up.
    private var lines: [CallPriority: [UInt64]] = [:]
    private var turns = 0
    /// How many places are taken.
    private(set) var occupied = 0
    /// How many wait.
    private(set) var waitingCount = 0

    init(capacity: Int, maximumWaiting: Int) {
        self.capacity = capacity
        self.maximumWaiting = maximumWaiting
    }

    /// Takes a place if there is one that nobody waits for.
    mutating func enterAtOnce(_ priority: CallPriority) -> Bool {
        guard priority == .urgent || occupied < capacity && waitingCount == 0 else { return false }
        occupied += 1
        return true
    }

    /// Takes a place, or stands in the line with a ticket that is greater than all before.
    ///
    /// - Parameter isReturning: Whether it had a place before, and so stands in the line though that is full.
    mutating func arrive(_ ticket: UInt64, _ priority: CallPriority, isReturning: Bool = false) -> Arrival {
        if enterAtOnce(priority) { return .enters }
        guard waitingCount < maximumWaiting || isReturning else { return .isRefused }
        lines[priority, default: []].append(ticket)
        waitingCount += 1
        return .waits
    }

    /// Gives a place back. Returns the ticket of whoever has it now, if anybody waited.
    mutating func leave() -> UInt64? {
        occupied -= 1
        guard occupied < capacity, waitingCount > 0, let priority = nextPriority() else { return nil }
        turns += 1
        occupied += 1
        waitingCount -= 1
        return lines[priority]?.removeFirst()
    }

    /// Leaves the line without a place; `false` where the ticket is not in it.
    mutating func abandon(_ ticket: UInt64) -> Bool {
        for (priority, line) in lines {
            guard let index = line.firstIndex(of: ticket) else { continue }
            lines[priority]?.remove(at: index)
            waitingCount -= 1
            return true
        }
        return false
    }

    /// Gives one who waits a higher priority, behind those of it who came before.
    ///
    /// - Returns: Whether it has a place now, as who is urgent does.
    mutating func raise(_ ticket: UInt64, to priority: CallPriority) -> Bool {
        guard let old = lines.first(where: { $0.value.contains(ticket) })?.key, old < priority else { return false }
        lines[old]?.removeAll { $0 == ticket }
        if priority == .urgent {
            waitingCount -= 1
            occupied += 1
            return true
        }
        var line = lines[priority] ?? []
        line.insert(ticket, at: line.firstIndex { $0 > ticket } ?? line.endIndex)
        lines[priority] = line
        return false
    }

    private func nextPriority() -> CallPriority? {
        let waiting = lines.filter { !$0.value.isEmpty }
        guard turns % Self.turnsPerLongestWait == Self.turnsPerLongestWait - 1 else { return waiting.keys.max() }
        return waiting.min { ($0.value.first ?? .max) < ($1.value.first ?? .max) }?.key
    }
}
