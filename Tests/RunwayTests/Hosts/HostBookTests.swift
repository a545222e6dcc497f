import Foundation
import HTTPTypes
import Runway
import RunwayTesting
import Synchronization
import Testing

/// Where the list in use comes from, and when another one is fetched.
@Suite(.timeLimit(.minutes(10)))
struct HostBookTests {
    private static let first = #"{"hosts":{"api.example.com":["203.0.113.1"]},"ttl":86400}"#
    private static let second = #"{"hosts":{"api.example.com":["203.0.113.2"]},"ttl":86400}"#

    private enum Hosting: APIService {
        static let name = "hosting"
        static let environments: [ServiceEnvironment: String] = [.release: "https://api.example.com/v1"]
        static let deadline = Duration.seconds(600)
    }

    /// Returns what a test sets, and counts.
    private final class ListTransport: Transport {
        let state = Mutex<(responses: [String], count: Int)>(([], 0))

        func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
            #expect(request.url == "https://api.example.com/v1/hosts")
            let text = state.withLock { state in
                state.count += 1
                return state.responses.isEmpty ? nil : state.responses.removeFirst()
            }
            let head = HTTPResponse(status: text == nil ? .serviceUnavailable : .ok)
            return Response(head: head, body: .whole(RawData(Array((text ?? "").utf8), response: head)))
        }
    }

    /// A clock and a date that a test sets.
    private final class Days: Sendable {
        private let state = Mutex(Date(timeIntervalSince1970: 1_700_000_000))
        let manual = ManualClock()
        var clock: LayerClock { LayerClock(manual) { [self] in state.withLock { $0 } } }
        func advance(by duration: Duration) {
            state.withLock { $0 += Double(duration.components.seconds) }
            manual.advance(by: duration)
        }
    }

    private let transport = ListTransport()
    private let days = Days()
    private var network: NetworkLayer {
        NetworkLayer(
            transport: transport, pipeline: .tested, clock: days.clock,
            limits: LayerLimits(admission: .none, retrying: .none))
    }

    private func withFile(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("runway-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder + "/hosts.json")
    }

    private func book(_ path: String? = nil, bundled: String? = nil) throws -> HostBook {
        try HostBook(
            bundled: bundled.map { try HostList(json: Array($0.utf8)) }, file: path, clock: days.clock,
            timeZone: #require(TimeZone(identifier: "UTC")))
    }

    private func address(_ book: HostBook) -> String? { book.list?.addresses(of: "api.example.com").first?.description }

    @Test func daysListIsFetchedOnceAndStored() async throws {
        try await withFile { path in
            transport.state.withLock { $0.responses = [Self.second] }
            let book = try book(path, bundled: Self.first)
            #expect(book.source == .bundled)
            #expect(try await book.refreshIfDue(over: network, from: Hosting.self))
            #expect(try await !book.refreshIfDue(over: network, from: Hosting.self))
            #expect(address(book) == "203.0.113.2")

            // Another launch of the same day reads the file and asks nobody.
            let next = try self.book(path, bundled: Self.first)
            #expect(next.source == .disk)
            #expect(address(next) == "203.0.113.2")
            #expect(!next.isRefreshDue)
            #expect(try await !next.refreshIfDue(over: network, from: Hosting.self))
            #expect(transport.state.withLock { $0.count } == 1)

            // The first launch of the next day asks again.
            days.advance(by: .seconds(86_400))
            transport.state.withLock { $0.responses = [Self.first] }
            #expect(try await next.refreshIfDue(over: network, from: Hosting.self))
            #expect(address(next) == "203.0.113.1")
        }
    }

    @Test func theFileIsTheUsersAlone() async throws {
        try await withFile { path in
            try await book(path).use(Array(Self.first.utf8))
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            let book = try book(path, bundled: Self.second)
            #expect(book.loadError?.description.contains("open to others") == true)
            #expect(address(book) == "203.0.113.2")
        }
    }

    @Test(arguments: [
        "", "{", "null", "{\"version\":2}", "{\"version\":1,\"fetched\":1,\"list\":{\"hosts\":{}}}",
        "{\"version\":1,\"fetched\":1e300,\"list\":\(Self.first)}",
    ])
    func aDamagedFileIsReportedAndNotUsed(content: String) async throws {
        try await withFile { path in
            let isMade = FileManager.default.createFile(
                atPath: path, contents: Data(content.utf8), attributes: [.posixPermissions: 0o600])
            #expect(isMade)
            let book = try book(path, bundled: Self.first)
            #expect(book.loadError != nil)
            #expect(book.source == .bundled)
            try await book.use(Array(Self.second.utf8))
            #expect(try address(self.book(path)) == "203.0.113.2")
        }
    }

    @Test func refusedListLeavesTheLastGoodOne() async throws {
        try await withFile { path in
            let book = try book(path)
            try await book.use(Array(Self.first.utf8))
            days.advance(by: .seconds(86_400))
            for hostile in [
                #"{"hosts":{}}"#, #"{"hosts":{"*":["203.0.113.9"]}}"#, #"{"hosts":{"api.example.com":["127.0.0.1"]}}"#,
            ] {
                transport.state.withLock { $0.responses = [hostile] }
                let error = await #expect(throws: NetworkError.self) {
                    try await book.refreshIfDue(over: network, from: Hosting.self)
                }
                #expect(error?.kind == .invalidResponse)
                #expect(address(book) == "203.0.113.1")
                days.advance(by: .seconds(300))
            }
            #expect(try address(self.book(path)) == "203.0.113.1")
        }
    }

    @Test func concurrentListInUseIsTheStoredOne() async throws {
        try await withFile { path in
            let book = try book(path)
            for _ in 0..<60 {
                await withDiscardingTaskGroup { group in
                    for json in [Self.first, Self.second, Self.first, Self.second] {
                        group.addTask { try? await book.use(Array(json.utf8)) }
                    }
                }
                try #require(try address(self.book(path)) == address(book))
            }
        }
    }

    @Test func aPolicyWithoutABoundReadsTheFile() async throws {
        try await withFile { path in
            try await book(path).use(Array(Self.first.utf8))
            let book = HostBook(file: path, policy: HostListPolicy(maximumByteCount: .max))
            #expect(address(book) == "203.0.113.1")
        }
    }

    @Test func failedRefreshIsNotRepeatedForAWhile() async throws {
        let book = try book()
        await #expect(throws: NetworkError.self) {
            try await book.refreshIfDue(over: network, from: Hosting.self)
        }
        #expect(try await !book.refreshIfDue(over: network, from: Hosting.self))
        #expect(transport.state.withLock { $0.count } == 1)
        days.advance(by: .seconds(300))
        transport.state.withLock { $0.responses = [Self.first] }
        #expect(try await book.refreshIfDue(over: network, from: Hosting.self))
    }

    @MainActor @Test func storingAListLeavesTheMainActorFree() async throws {
        try await withFile { path in
            let book = try book(path)
            let turn = ScriptedGate()
            // It comes to its turn as soon as somebody leaves the main actor.
            Task { @MainActor in turn.open() }
            try await book.use(Array(Self.first.utf8))
            #expect(turn.isOpen)
        }
    }

    @Test func diskFailureIsReportedAndTheListUsed() async throws {
        let book = try book("/proc/nowhere/hosts.json")
        let error = await #expect(throws: NetworkError.self) { try await book.use(Array(Self.first.utf8)) }
        #expect(error?.kind == .storage)
        #expect(address(book) == "203.0.113.1")
    }
}
