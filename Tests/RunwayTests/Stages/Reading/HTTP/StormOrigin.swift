import HTTPTypes
import RunwayTesting
import Synchronization

@testable import Runway

/// An origin that responds after a delay, with its state then, and records what it did.
final class StormOrigin: Transport {
    /// The call in whose task a request is sent.
    @TaskLocal static var call = 0

    private struct State {
        var log = StormLog()
        var random: SeededGenerator
        /// How often each target was changed.
        var versions: [Int: Int] = [:]

        mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    }

    /// Guards what is written down, and what the origin has.
    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(random: SeededGenerator(seed: ~seed))) }

    var log: StormLog { state.withLock { $0.log } }

    func write<Written: Sendable>(_ write: (inout StormLog) -> Written) -> Written { state.withLock { write(&$0.log) } }

    /// The places between which some work is done.
    func span(of work: () async throws -> Void) async rethrows -> StormLog.Span {
        let begin = write { $0.place() }
        try await work()
        return StormLog.Span(begin: begin, end: write { $0.place() })
    }

    func endsInTime(_ request: Request) -> Bool { true }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        let shelf = request.head.path?.last == "1" ? 1 : 2
        let isRead = request.head.method == .get
        let variant = StormLog.Variant(
            shelf: shelf, owner: flight.account ?? "nobody", language: request.head.headerFields[.acceptLanguage])
        let (exchange, pauses) = state.withLock { state in
            let arrival = state.log.place()
            if isRead {
                state.log.exchanges.append(
                    StormLog.Exchange(
                        variant: variant, call: Self.call, isBackground: flight.options.priority == .low,
                        arrival: arrival))
            }
            return (state.log.exchanges.count - 1, (state.number(0...6), state.number(0...6)))
        }
        for _ in 0..<pauses.0 { await Task.yield() }
        let result = state.withLock { state in
            isRead
                ? Self.read(variant, request, at: flight.clock, exchange, &state) : Self.change(shelf, &state)
        }
        for _ in 0..<pauses.1 { await Task.yield() }
        return try result.get()
    }

    private static func change(_ shelf: Int, _ state: inout State) -> Result<Response, NetworkError> {
        if state.number(1...4) == 1 { return .success(.json("{}", status: .conflict)) }
        state.versions[shelf, default: 0] += 1
        return .success(.json(#"{"version":\#(state.versions[shelf, default: 0])}"#))
    }

    private static func read(
        _ variant: StormLog.Variant, _ request: Request, at clock: LayerClock, _ exchange: Int, _ state: inout State
    ) -> Result<Response, NetworkError> {
        switch state.number(1...12) {
        case 1: return .failure(NetworkError(.noNetwork, in: .transporting, "gone"))
        case 2: return .success(.json("{}", status: .internalServerError))
        case 3, 4: state.versions[variant.shelf, default: 0] += 1
        default: break
        }
        let version = state.versions[variant.shelf, default: 0]
        let condition = request.head.headerFields[.ifNoneMatch] ?? ""
        let confirmed = state.log.responses.indices.first { number in
            let stored = state.log.responses[number]
            return stored.variant == variant && stored.version == version && condition.contains("\"\(number)\"")
        }
        if confirmed == nil { state.log.responses.append(StormLog.SentResponse(variant: variant, version: version)) }
        let number = confirmed ?? state.log.responses.count - 1
        let maxAge = state.number(0...20)
        let directive = ["no-store", "no-cache", "stale-while-revalidate=10", "private", "private"][state.number(0...4)]
        state.log.exchanges[exchange].number = number
        state.log.exchanges[exchange].maxAge = maxAge
        state.log.exchanges[exchange].isReusable = directive != "no-store" && directive != "no-cache"

        var response: Response = .json(#"{"number":\#(number)}"#)
        if confirmed != nil { response = .bytes([], status: .notModified) }
        response.head.headerFields[.cacheControl] = "max-age=\(maxAge), \(directive)"
        response.head.headerFields[.date] = HTTPDate(clock.date).text
        response.head.headerFields[.eTag] = "\"\(number)\""
        if StormLog.Variant.varies(variant.shelf) { response.head.headerFields[.vary] = "Accept-Language" }
        return .success(response)
    }
}
