/// The failed calls of managers whose failure may be temporary, and how to repeat each call. It is a pure state machine
/// and makes no calls.
struct ResumableCalls {
    struct Call {
        let flight: FlightID
        /// The service, environment and account of the call.
        let owner: TokenIdentity
        let cause: NetworkError.Kind
        let manager: WeakManager
        /// Makes the call again.
        let load: @MainActor () -> FlightID?
    }

    private struct Entry {
        let call: Call
        let end: Duration
    }

    private let maximumCount: Int
    private let lifetime: Duration
    /// The calls in the order in which they failed.
    private var entries: [Entry] = []
    /// Calls that the app resumed before they failed. If there are too many, the oldest are removed.
    private var awaited: [FlightID] = []

    init(maximumCount: Int, lifetime: Duration) {
        self.maximumCount = max(0, maximumCount)
        self.lifetime = max(.zero, lifetime)
    }

    var count: Int { entries.count }

    /// Adds a failed call. If there are too many, the oldest is removed.
    ///
    /// - Returns: Whether the call must be repeated at once, because the app has already resumed it. Such a call is not
    ///   added.
    mutating func add(_ call: Call, at now: Duration) -> Bool {
        if let index = awaited.firstIndex(of: call.flight) {
            awaited.remove(at: index)
            return true
        }
        entries.removeAll { $0.end <= now || $0.call.manager.manager == nil }
        entries.append(Entry(call: call, end: now + lifetime))
        entries.removeFirst(max(0, entries.count - maximumCount))
        return false
    }

    /// Removes a call of the manager, or all of its calls if `flight` is `nil`.
    mutating func remove(_ flight: FlightID?, of manager: any APIManaging) {
        entries.removeAll { $0.call.manager.manager === manager && (flight ?? $0.call.flight) == $0.call.flight }
    }

    /// Removes and returns the calls to repeat now, in the order in which they were made. Calls whose time has passed
    /// are removed, too.
    ///
    /// - Parameter flights: Calls to repeat as soon as they fail, if they have not failed yet.
    mutating func take(
        awaiting flights: [FlightID] = [], at now: Duration, where predicate: (Call) -> Bool
    ) -> [Call] {
        entries.removeAll { $0.end <= now }
        let taken = entries.map(\.call).filter(predicate).sorted { $0.flight < $1.flight }
        let numbers = Set(taken.map(\.flight))
        entries.removeAll { numbers.contains($0.call.flight) }
        awaited += flights.filter { !numbers.contains($0) && !awaited.contains($0) }
        awaited.removeFirst(max(0, awaited.count - maximumCount))
        return taken
    }
}
