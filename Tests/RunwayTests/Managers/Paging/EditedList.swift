import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Synchronization

/// A server with one list that is edited while it is read, asked for pages in every style.
final class EditedList: Sendable {
    struct Row: Equatable {
        var id: Int
        /// Where the row stands for a cursor, which means "after this rank".
        var rank: Double
    }

    struct State {
        var rows: [Row]
        var nextID: Int
        var requestCount = 0
        var queries: [[String: String]] = []
        /// The rows that were neither deleted nor moved.
        var untouched: Set<Int>
        /// The rows that were not deleted.
        var remaining: Set<Int>
        /// Called before every response; returns an error to fail with instead.
        var beforeResponse: (@Sendable (EditedList) -> NetworkError?)?
        /// Returns another response.
        var response: (@Sendable ([String: String]) -> String?)?
        var saysTotal = false
    }

    /// Guards the list.
    let state: Mutex<State>

    init(count: Int) {
        let ids = count > 0 ? Array(1...count) : []
        state = Mutex(
            State(
                rows: ids.map { Row(id: $0, rank: Double($0)) }, nextID: count + 1, untouched: Set(ids),
                remaining: Set(ids)))
    }

    var ids: [Int] { state.withLock { $0.rows.map(\.id) } }
    var requestCount: Int { state.withLock { $0.requestCount } }
    var queries: [[String: String]] { state.withLock { $0.queries } }

    func insert(at index: Int) {
        state.withLock { state in
            state.place(state.nextID, at: index)
            state.nextID += 1
        }
    }

    func delete(at index: Int) {
        state.withLock { state in
            guard state.rows.indices.contains(index) else { return }
            let row = state.rows.remove(at: index)
            state.untouched.remove(row.id)
            state.remaining.remove(row.id)
        }
    }

    func move(from index: Int, to target: Int) {
        state.withLock { state in
            guard state.rows.indices.contains(index) else { return }
            let row = state.rows.remove(at: index)
            state.untouched.remove(row.id)
            state.place(row.id, at: target)
        }
    }

    func respond(_ request: Request) throws(NetworkError) -> Response {
        let query = Self.query(of: request.head.path ?? "")
        let hook = state.withLock { state in
            state.requestCount += 1
            state.queries.append(query)
            return state.beforeResponse
        }
        if let error = hook?(self) { throw error }
        if let text = state.withLock({ $0.response })?(query) { return .json(text) }
        return .json(state.withLock { $0.page(query) })
    }

    private static func query(of path: String) -> [String: String] {
        let pairs = path.split(separator: "?").last?.split(separator: "&") ?? []
        return Dictionary(
            pairs.map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
                return (parts[0], parts.count > 1 ? parts[1] : "")
            }, uniquingKeysWith: { first, _ in first })
    }
}

extension EditedList.State {
    mutating func place(_ id: Int, at index: Int) {
        let index = min(max(0, index), rows.count)
        let before = index > 0 ? rows[index - 1].rank : (rows.first?.rank ?? 1) - 1
        let after = index < rows.count ? rows[index].rank : before + 1
        rows.insert(EditedList.Row(id: id, rank: (before + after) / 2), at: index)
    }

    func page(_ query: [String: String]) -> String {
        let size = query["size"].flatMap { Int($0) } ?? 0
        var start = query["offset"].flatMap { Int($0) } ?? 0
        if let number = query["page"].flatMap({ Int($0) }) { start = (number - 1) * size }
        if let cursor = query["cursor"].flatMap({ Double($0) }) {
            start = rows.firstIndex { $0.rank > cursor } ?? rows.count
        }
        let page = rows.dropFirst(start).prefix(size)
        let items = page.map { #"{"id":\#($0.id),"title":"row \#($0.id)"}"# }.joined(separator: ",")
        var text = #"{"code":0,"data":{"list":[\#(items)]"#
        if saysTotal { text += #","total":\#(rows.count)"# }
        if start + page.count < rows.count, let last = page.last { text += #","next":"\#(last.rank)""# }
        return text + "}}"
    }
}

/// The one list of the tests, asked for in one of the styles.
protocol TestedList: PagedEndpoint {
    init()
}

extension TestedList {
    static var service: Estates.Type { Estates.self }
    static var pageSize: Int { 5 }
    var path: EndpointPath { "list" }
    func read(_ rawData: RawData) throws -> PageContent {
        let data = rawData["data"]
        return try PageContent(
            rows: data["list"], id: "id", nextCursor: Self.paging == .cursor ? data["next"].string : nil,
            total: data["total"].int)
    }
}

struct OffsetList: TestedList {
    static let paging = PageStyle.offset
    static var cache: CachePolicy { .off }
    var offset = 0
    var size = 0
    mutating func ask(for page: PageRequest) { (offset, size) = (page.offset, page.size) }
}

struct NumberedList: TestedList {
    static let paging = PageStyle.number()
    var page = 0
    var size = 0
    mutating func ask(for page: PageRequest) { (self.page, size) = (page.number, page.size) }
}

struct FixedList: TestedList {
    static let paging = PageStyle.numberOfFixedSize()
    var page = 0
    var size = 0
    mutating func ask(for page: PageRequest) { (self.page, size) = (page.number, page.size) }
}

struct CursorList: TestedList {
    static let paging = PageStyle.cursor
    var cursor: String?
    var size = 0
    mutating func ask(for page: PageRequest) { (cursor, size) = (page.cursor, page.size) }
}

/// A list whose rows have no ids.
struct PlainList: PagedEndpoint {
    static let service = Estates.self
    static let paging = PageStyle.offset
    static var pageSize: Int { 5 }
    var path: EndpointPath { "list" }
    var offset = 0
    var size = 0
    mutating func ask(for page: PageRequest) { (offset, size) = (page.offset, page.size) }
    func read(_ rawData: RawData) throws -> PageContent { try PageContent(rows: rawData["data"]["list"], id: nil) }
}

/// A manager over an edited list, whose landings a test can wait for.
@MainActor
final class PagedPlay<E: PagedEndpoint>: APIManagerDelegate {
    let list: EditedList
    let network: NetworkLayer
    private(set) lazy var manager = PagedAPIManager<E>(on: network, delegate: self, limits: limits)
    private let limits: PagingLimits
    private(set) var landings: [Result<[Int], NetworkError>] = []
    private var waiter: CheckedContinuation<Void, Never>?

    init(_ list: EditedList, _ type: E.Type = E.self, limits: PagingLimits = PagingLimits()) {
        self.list = list
        self.limits = limits
        network = NetworkLayer(
            transport: StubTransport { request throws(NetworkError) in try list.respond(request) }, pipeline: .tested,
            clock: LayerClock(ManualClock()), limits: LayerLimits(admission: .none, retrying: .none))
    }

    /// The ids in memory.
    var ids: [Int] { manager.items.compactMap { $0["id"].int } }

    /// Waits for the landing of a load, if it started.
    @discardableResult
    func land(_ flight: FlightID?) async -> Result<[Int], NetworkError>? {
        guard flight != nil, manager.isLoading else { return nil }
        await withCheckedContinuation { waiter = $0 }
        return landings.last
    }

    @discardableResult
    func first(_ endpoint: E) async -> Result<[Int], NetworkError>? { await land(manager.load(endpoint)) }

    @discardableResult
    func next() async -> Result<[Int], NetworkError>? { await land(manager.loadNextPage()) }

    /// Loads to the end of the list, or to a failure.
    func loadToTheEnd() async -> NetworkError? {
        for _ in 0..<1000 {
            guard let landing = await next() else { return nil }
            if case .failure(let error) = landing { return error }
        }
        return NetworkError(.timedOut, in: .landing, "The end was not reached.")
    }

    func apiManagerDidSucceed(_ manager: any APIManaging) { keep(.success(ids)) }
    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { keep(.failure(error)) }

    private func keep(_ landing: Result<[Int], NetworkError>) {
        landings.append(landing)
        waiter?.resume()
        waiter = nil
    }
}

extension Result where Failure == NetworkError {
    var failure: NetworkError? { if case .failure(let error) = self { error } else { nil } }
}
