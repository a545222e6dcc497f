import RunwayTesting

/// The actions of an app's user in one session, in eight windows at once: 1,000 calls of 330 distinct responses.
///
/// City by city, every window opens a list by one of three filters, looks at homes on its first page, at the map and at homes on its
/// second page, changes to the other filters and back, and goes back all the time to what it showed before. Between them the windows of one
/// filter look at every home of its list. Then a list is published anew, and all eight windows refresh it at once. At the end every window goes
/// back to the first city. Which homes, in what order, and what is shown again when, is chance.
struct Session: Sendable {
    struct Call: Sendable {
        /// The expected response.
        let response: ExpectedResponse
        /// Whether the user asks for it anew.
        var isRefresh = false
    }

    /// What the windows do at the same time; the next part begins when all have done it.
    struct Part: Sendable {
        /// The list of which there is something new from here on.
        var published: Resource?
        /// The calls of each window, one after the other.
        var scripts: [[Call]]
    }

    private static let windows = 0..<8
    /// How many calls a window makes in a city, besides the refresh.
    private static let visitLength = 40

    private(set) var parts: [Part] = []
    private var random: SeededGenerator
    private var revisions: [Resource: Int] = [:]
    /// What each window showed before.
    private var seen = Session.windows.map { _ in [Resource]() }

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        for city in Resource.cities {
            var scripts: [[Call]] = []
            for window in Self.windows { scripts.append(visit(city, in: window)) }
            parts.append(Part(scripts: scripts))
            let filter = Int.random(in: Resource.filters, using: &random)
            let list = Resource.list(city: city, filter: filter, page: 0)
            revisions[list, default: 0] += 1
            let refresh = Call(
                response: ExpectedResponse(resource: list, revision: revisions[list, default: 0]), isRefresh: true)
            parts.append(Part(published: list, scripts: Self.windows.map { _ in [refresh] }))
            for window in Self.windows { seen[window].append(list) }
        }
        let ending = Self.windows.map { window in
            [call(.list(city: 0, filter: window % Resource.filters.count, page: 0)), call(.map(city: 0))]
        }
        parts.append(Part(scripts: ending))
    }

    /// All calls.
    var calls: [Call] { parts.flatMap { $0.scripts.flatMap(\.self) } }

    private func call(_ resource: Resource) -> Call {
        Call(response: ExpectedResponse(resource: resource, revision: revisions[resource, default: 0]))
    }

    private mutating func visit(_ city: Int, in window: Int) -> [Call] {
        var ahead = plan(of: city, in: window)[...]
        var calls: [Call] = []
        while calls.count < Self.visitLength {
            let remaining = Self.visitLength - calls.count
            let isNew = seen[window].isEmpty || Int.random(in: 0..<remaining, using: &random) < ahead.count
            let next = isNew ? ahead.popFirst() : seen[window].randomElement(using: &random)
            guard let next else { break }
            if isNew { seen[window].append(next) }
            calls.append(call(next))
        }
        return calls
    }

    /// What a window opens in a city, in order.
    private mutating func plan(of city: Int, in window: Int) -> [Resource] {
        let filter = window % Resource.filters.count
        var plan: [Resource] = [.list(city: city, filter: filter, page: 0)]
        plan += share(of: window, city, filter, page: 0)
        plan += [.map(city: city), .list(city: city, filter: filter, page: 1)]
        plan += share(of: window, city, filter, page: 1)
        for step in 1..<Resource.filters.count {
            let other = (filter + step) % Resource.filters.count
            plan.append(.list(city: city, filter: other, page: 0))
            for home in Resource.homes(filter: other, page: 0).shuffled(using: &random).prefix(2) {
                plan.append(.details(city: city, home: home))
            }
        }
        return plan + [.list(city: city, filter: filter, page: 0)]
    }

    /// The homes of a page that one of the windows of its filter looks at.
    private mutating func share(of window: Int, _ city: Int, _ filter: Int, page: Int) -> [Resource] {
        let sharers = Self.windows.filter { $0 % Resource.filters.count == filter }
        let own = sharers.firstIndex(of: window)
        return Resource.homes(filter: filter, page: page)
            .filter { $0 % sharers.count == own }
            .shuffled(using: &random)
            .map { .details(city: city, home: $0) }
    }
}
