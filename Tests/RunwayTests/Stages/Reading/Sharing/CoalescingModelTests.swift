import Foundation
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// Calls, joins, leaves, responses, failures, moves of the clock and changes of account, in random order.
@Suite(.timeLimit(.minutes(10)))
struct CoalescingModelTests {
    /// How many sequences are played; `RUNWAY_COALESCING` asks for more.
    static let count = ProcessInfo.processInfo.environment["RUNWAY_COALESCING"].flatMap { Int($0) } ?? 1000

    @Test func callsEndAsInTheModel() async throws {
        for seed in Seeds.some(Self.count) {
            var play = CoalescingPlay(seed: seed)
            try await play.run()
            if !play.problems.isEmpty { try #require(Bool(false), "seed \(seed): \(play.problems)") }
        }
    }
}

/// One sequence, played on a layer and on a model of it.
private struct CoalescingPlay {
    /// A read in flight: its leader and its waiters.
    struct Read {
        var number: UInt64
        var leader: UInt64
        var key: String
        var waiting: [UInt64]
    }
    enum Ending: Equatable {
        case response(of: UInt64)
        case failed(NetworkError.Kind)
    }

    private var random: SeededGenerator
    private let room: ReadingRoom
    private var tasks: [UInt64: Task<RawData, any Error>] = [:]
    private var deadlines: [UInt64: Duration] = [:]
    private var reads: [Read] = []
    private var readCount: UInt64 = 0
    private var callCount: UInt64 = 0
    private var leaders: [UInt64: UInt64] = [:]
    private var endings: [UInt64: Ending] = [:]
    private var now = Duration.zero
    private(set) var problems: [String] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        room = ReadingRoom(listens: seed % 2 == 0)
    }

    mutating func run() async throws {
        for _ in 0..<Int.random(in: 5...25, using: &random) {
            switch Int.random(in: 0..<12, using: &random) {
            case 0...5: await call()
            case 6, 7: await cancel()
            case 8, 9: await respond()
            case 10: await advance()
            default:
                let account = [nil, "ann", "bob"].randomElement(using: &random) ?? nil
                room.network.configure(Library.self) { $0.account = account }
            }
            check()
            if !problems.isEmpty { break }
        }
        for _ in reads { await respond() }
        for number in room.transport.parked { room.transport.respond(number) }
        if problems.isEmpty { try await checkRecords() }
    }

    private mutating func call() async {
        let lifetime = Duration.seconds(Int.random(in: 1...9, using: &random))
        let shelf = Int.random(in: 1...2, using: &random)
        let network = room.network
        network.configure(Library.self) { $0.deadline = lifetime }
        let key = "\(shelf) \(network.settings(of: Library.self).account ?? "-")"
        callCount += 1
        let id = callCount
        deadlines[id] = now + lifetime
        tasks[id] = room.call(Shelf(number: shelf))
        if let place = reads.firstIndex(where: { $0.key == key }) {
            reads[place].waiting.append(id)
            leaders[id] = reads[place].leader
            let (number, count) = (reads[place].number, reads[place].waiting.count)
            await settle("call \(id) does not join") { network.reads.flights(waitingFor: number).count == count }
        } else {
            readCount += 1
            reads.append(Read(number: readCount, leader: id, key: key, waiting: [id]))
            leaders[id] = id
            await settle("call \(id) does not begin") { [transport = room.transport] in transport.parked.contains(id) }
        }
    }

    private mutating func cancel() async {
        guard let id = reads.flatMap(\.waiting).randomElement(using: &random) else { return }
        tasks[id]?.cancel()
        await leave(id, .failed(.cancelled))
    }

    private mutating func advance() async {
        let step = Duration.seconds(Int.random(in: 1...4, using: &random))
        now += step
        let late = reads.flatMap(\.waiting).filter { deadlines[$0, default: .zero] <= now }
        room.clock.advance(by: step)
        for id in late { await leave(id, .failed(.timedOut)) }
    }

    private mutating func respond() async {
        guard let place = reads.indices.randomElement(using: &random) else { return }
        let read = reads.remove(at: place)
        let isFine = Bool.random(using: &random)
        if isFine {
            room.transport.respond(read.leader)
        } else {
            room.transport.respond(read.leader, with: .failure(NetworkError(.noNetwork, in: .transporting, "gone")))
        }
        for id in read.waiting { await end(id, isFine ? .response(of: read.leader) : .failed(.noNetwork)) }
    }

    private mutating func leave(_ id: UInt64, _ ending: Ending) async {
        guard let place = reads.firstIndex(where: { $0.waiting.contains(id) }) else { return }
        reads[place].waiting.removeAll { $0 == id }
        let leader = reads[place].leader
        if reads[place].waiting.isEmpty {
            reads.remove(at: place)
            await settle("the read of \(leader) is not cancelled") { [transport = room.transport] in
                transport.cancelled.contains(leader)
            }
        }
        await end(id, ending)
    }

    private mutating func end(_ id: UInt64, _ expected: Ending) async {
        guard let task = tasks.removeValue(forKey: id) else { return problems.append("call \(id) ends twice") }
        let found: Ending =
            switch await task.result {
            case .success(let rawData): .response(of: rawData["flight"].uint64 ?? 0)
            case .failure(let error): .failed((error as? NetworkError)?.kind ?? .storage)
            }
        if found != expected { problems.append("call \(id) ended as \(found), not as \(expected)") }
        endings[id] = found
    }

    private mutating func settle(_ problem: String, until condition: @Sendable () -> Bool) async {
        do { try await waitUntil { condition() } } catch { problems.append("\(problem): \(error)") }
    }

    private mutating func check() {
        for read in reads {
            let waiting = room.network.reads.flights(waitingFor: read.number).map(\.id.number)
            if waiting != read.waiting { problems.append("\(waiting) wait, not \(read.waiting)") }
            if room.transport.cancelled.contains(read.leader) { problems.append("a read was cancelled too early") }
            let latest = read.waiting.compactMap { deadlines[$0] }.max()
            if room.transport.flight(read.leader)?.deadline != latest { problems.append("not the latest deadline") }
        }
        let expected = Set(leaders.values)
        if Set(room.transport.sent) != expected || room.transport.sent.count != expected.count {
            problems.append("sent \(room.transport.sent), not \(expected.sorted())")
        }
    }

    private mutating func checkRecords() async throws {
        await room.network.flushRecords()
        let records = room.records.records
        if records.count != Int(callCount) { problems.append("\(records.count) records of \(callCount) calls") }
        if !room.network.reads.isEmpty { problems.append("reads are left over") }
        for record in records {
            let id = record.id.number
            let leader = leaders[id]
            if record.attempts.count != (leader == id ? 1 : 0) {
                problems.append("\(id) has \(record.attempts.count) attempts")
            }
            let joined = record.decisions(of: SharingDecision.self).compactMap { decision -> UInt64? in
                if case .joined(let flight) = decision { flight.number } else { nil }
            }
            if joined != [leader].compactMap({ $0 == id ? nil : $0 }) { problems.append("\(id) joined \(joined)") }
            let name =
                switch endings[id] {
                case .response: "succeeded"
                case .failed(.cancelled): "cancelled"
                default: "failed"
                }
            if record.outcome.name != name { problems.append("\(id) was \(record.outcome.name), not \(name)") }
        }
    }
}
