/// Decides which call has the thread of the scripts, and what becomes of a call whose deadline passes. Pure.
struct ScriptTurns: Sendable {
    /// The greatest number of calls that wait for the thread. More get native results at once.
    static let maximumWaiting = 64

    /// The next step of a caller whose deadline has passed.
    enum Expiry: Equatable, Sendable {
        /// The call had not begun, and never will.
        case withdrawn
        /// The script runs on, and no other call begins before it ends.
        case overdue
        /// The result has arrived after all.
        case finished
    }

    private(set) var waiting: [Int] = []
    private(set) var running: Int?
    /// Whether the caller of the running call has gone on without it.
    private(set) var isOverdue = false
    /// Whether scripts are off until the process ends.
    private(set) var isOff = false
    private var last = 0

    /// Enqueues a call. Returns `nil` if it can't run soon.
    ///
    /// - Parameter isPatient: Whether the call may wait for the end of an overdue one.
    mutating func submit(isPatient: Bool = false) -> Int? {
        guard !isOff, isPatient || !isOverdue, waiting.count < Self.maximumWaiting else { return nil }
        last += 1
        waiting.append(last)
        return last
    }

    /// Begins the next call; the former one must have ended.
    mutating func begin() -> Int? {
        precondition(running == nil, "two calls of scripts on one thread")
        guard !isOff, !waiting.isEmpty else { return nil }
        running = waiting.removeFirst()
        return running
    }

    /// Ends the running call.
    mutating func end() {
        precondition(running != nil, "the end of a call that has not begun")
        (running, isOverdue) = (nil, false)
    }

    mutating func expire(_ call: Int) -> Expiry {
        if let place = waiting.firstIndex(of: call) {
            waiting.remove(at: place)
            return .withdrawn
        }
        guard running == call else { return .finished }
        isOverdue = true
        return .overdue
    }

    /// Turns scripts off if a call still runs long after its deadline. Returns whether it does.
    mutating func turnOff(ifRunning call: Int) -> Bool {
        guard running == call, !isOff else { return false }
        isOff = true
        return true
    }
}
