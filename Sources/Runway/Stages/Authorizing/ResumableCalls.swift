/// The calls of managers that failed for a reason that may pass, and how each is made again. Pure: it makes none.
struct ResumableCalls {
    /// A call that failed.
    struct Call {
        let flight: FlightID
        /// The account that the call was made for.
        let owner: TokenIdentity
        /// The reason why the call failed.
        let cause: NetworkError.Kind
        /// The manager that made the call.
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
    /// The calls that the app resumed before they failed, of all services; the oldest are removed if there are too
    /// many.
    private var awaited: [FlightID] = []

    init(maximumCount: Int, lifetime: Duration) {
        self.maximumCount = max(0, maximumCount)
        self.lifetime = max(.zero, lifetime)
    }

    var count: Int { entries.count }

    /// Adds a call that failed at an instant. The oldest is removed if there are too many.
    ///
    /// - Returns: Whether the call is to be made again at once, since the app has resumed it already; it is not added
    ///   then.
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

    /// Removes a call, if it is stored; with `nil`, all calls of the manager.
    mutating func remove(_ flight: FlightID?, of manager: any APIManaging) {
        entries.removeAll { $0.call.manager.manager === manager && (flight ?? $0.call.flight) == $0.call.flight }
    }

    /// Takes out the calls that are made again now, in the order in which they were made. Calls whose time has passed
    /// are removed.
    ///
    /// - Parameter flights: Calls that are made again as soon as they fail, if they have not failed yet.
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
