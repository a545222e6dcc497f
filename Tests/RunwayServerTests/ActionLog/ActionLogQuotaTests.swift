import Foundation
import Hummingbird
import NIOCore
import Runway
import RunwayServer
import RunwayStorage
import RunwayTesting
import Synchronization
import Testing

/// How much a log stores of whom, in memory and over a socket.
@Suite(.timeLimit(.minutes(10)))
struct ActionLogQuotaTests {
    private typealias Batch = RunwayServer.ActionLogBatch

    /// A date that a test moves.
    private final class Calendar: Sendable {
        /// Guards the date.
        private let date = Mutex(Date(timeIntervalSince1970: 1_790_000_000))

        var now: Date { date.withLock { $0 } }

        func advance(by seconds: TimeInterval) { date.withLock { $0 += seconds } }
    }

    private let calendar = Calendar()

    private func sink(
        _ byteCount: Int = 1 << 40, installation: Int = 1 << 40, share: Double = 1
    ) -> MemoryActionLogSink {
        var quotas = ActionLogQuotas()
        quotas.maximumByteCount = byteCount
        quotas.maximumInstallationByteCount = installation
        quotas.shareOfSource = share
        return MemoryActionLogSink(quotas: quotas) { [calendar] in calendar.now }
    }

    /// A first batch of a stream with one record, which counts `byteCount`.
    private func batch(
        _ byteCount: Int = 1000, of installation: UUID = UUID(), account: String? = nil, from source: String? = nil
    ) -> Batch {
        let json = [UInt8](repeating: 65, count: byteCount - 2 * Batch.rowByteCount - (account?.utf8.count ?? 0))
        return Batch(
            installation: installation, stream: UUID(), number: 1, account: account,
            records: [.init(id: UUID(), name: "", json: json)], source: source)
    }

    /// How many of a hundred batches of one source are stored.
    private func fill(_ sink: MemoryActionLogSink, from source: String?) -> Int {
        (0..<100).filter { _ in (try? sink.store(batch(from: source))) != nil }.count
    }

    private func quota(_ sink: MemoryActionLogSink, _ batch: Batch) -> StoreRefusal.Kind? {
        do {
            _ = try sink.store(batch)
            return nil
        } catch {
            return error.kind
        }
    }

    @Test func sourceLeavesTheRestToOthers() throws {
        let sink = sink(100_000, share: 0.1)
        #expect(fill(sink, from: "a") == 10)
        #expect(quota(sink, batch(from: "a")) == .source)
        // Each of the others has a share of what is left; ten leave a third.
        for number in 1...9 { #expect((3...10).contains(fill(sink, from: "\(number)"))) }
        #expect((60...70).contains(sink.records.count))
        #expect(fill(sink, from: nil) > 0)
    }

    @Test func largeBatchOfANewSourceIsStored() {
        let sink = sink(100_000, share: 0.1)
        #expect(quota(sink, batch(20_000, from: "a")) == nil)
        #expect(quota(sink, batch(from: "a")) == .source)
        #expect(quota(sink, batch(90_000, from: "b")) == .full)
        calendar.advance(by: 24 * 3600)
        #expect(quota(sink, batch(20_000, from: "a")) == nil)
    }

    @Test func storedRecordsOfNewStreamNeedNoRoom() throws {
        let sink = sink(1500)
        var repeated = batch()
        #expect(try sink.store(repeated) == .stored(duplicates: []))
        repeated.stream = UUID()
        #expect(try sink.store(repeated) == .stored(duplicates: Set(repeated.records.map(\.id))))
        #expect(quota(sink, batch()) == .full)
    }

    @Test func clientsOfUnknownSourceAreOneSource() {
        let sink = sink(100_000, share: 0.1)
        #expect(fill(sink, from: nil) == 10)
        #expect(quota(sink, batch()) == .source)
    }

    @Test func aShareIsThereAgainAfterADay() throws {
        let sink = sink(100_000, share: 0.1)
        _ = fill(sink, from: "a")
        calendar.advance(by: 12 * 3600)
        // Half of what was sent counts no more.
        #expect((4...6).contains(fill(sink, from: "a")))
        calendar.advance(by: 24 * 3600)
        #expect(fill(sink, from: "a") > 7)
    }

    @Test func sourceWaitsForAnHourAtMost() throws {
        let sink = sink(100_000, share: 0.1)
        _ = fill(sink, from: "a")
        do {
            _ = try sink.store(batch(from: "a"))
            Issue.record("It is stored.")
        } catch {
            let wait = try #require(error.retryAfter)
            #expect((.seconds(1)...Duration.seconds(3600)).contains(wait))
        }
    }

    @Test func anInstallationHasABound() {
        let (sink, installation) = (sink(installation: 2500), UUID())
        #expect(quota(sink, batch(of: installation)) == nil && quota(sink, batch(of: installation)) == nil)
        #expect(quota(sink, batch(of: installation)) == .installation)
        #expect(quota(sink, batch()) == nil)
    }

    @Test func aFullLogRefusesEverybody() {
        let sink = sink(2500)
        #expect(quota(sink, batch(from: "a")) == nil && quota(sink, batch(from: "b")) == nil)
        #expect(quota(sink, batch(from: "c")) == .full)
    }

    @Test func idsOfErasedRecordsCount() {
        let (sink, installation) = (sink(installation: 10_000), UUID())
        func fillAndErase() -> Int {
            let count = (0..<100).filter { _ in
                quota(sink, batch(of: installation, account: "ada")) == nil
            }.count
            sink.erase(account: "ada")
            return count
        }
        #expect(fillAndErase() == 10)
        // 512 bytes of each remain, its stream and its id.
        #expect(fillAndErase() == 4)
        var rounds = 0
        while fillAndErase() > 0 { rounds += 1 }
        #expect(rounds < 10)
    }

    @Test func whatIsKnownNeedsNoRoom() throws {
        let sink = sink(1500)
        let first = batch()
        #expect(try sink.store(first) == .stored(duplicates: []))
        #expect(quota(sink, batch()) == .full)
        #expect(try sink.store(first) == .known)
    }

    /// The context of a request from an address that the test chooses.
    private struct Context: RemoteAddressRequestContext {
        var coreContext: CoreRequestContextStorage
        let remoteAddress: SocketAddress?

        init(source: ApplicationRequestContextSource) {
            coreContext = CoreRequestContextStorage(source: source)
            remoteAddress = source.channel.remoteAddress
        }
    }

    @Test func aClientWaitsAndLosesNothing() async throws {
        // 60 records or so.
        let sink = sink(400_000, share: 0.1)
        let router = Router(context: Context.self)
        ActionLogRoute(to: sink).add(to: router)
        try await LogClient.serve(router) { client in
            let log = client.open()
            for number in 0..<200 { log.record("r\(number)") }
            try await waitUntil("the first refusal") {
                await log.flush()
                return await log.currentState.sendingProblem == "The server responded with status 429."
            }
            let stored = sink.records.count
            #expect((30...150).contains(stored))
            // It does not ask again before it may.
            for _ in 0..<3 { await log.flush() }
            #expect(sink.records.count == stored)
            try await waitUntil("all acknowledged") {
                await log.flush()
                client.clock.advance(by: .seconds(6 * 3600))
                calendar.advance(by: 6 * 3600)
                return await log.currentState.waitingCount == 0
            }
            #expect(sink.records.map(\.name) == (0..<200).map { "r\($0)" })
            #expect(try await log.refusedRecords().isEmpty)
            await log.close()
        }
    }

    @Test func theAddressOfAContextIsTheSource() async throws {
        struct Recorder: ActionLogSink {
            let sources: AsyncStream<String?>.Continuation

            func store(_ batch: RunwayServer.ActionLogBatch) async throws -> ActionLogStorage {
                sources.yield(batch.source)
                return .stored(duplicates: [])
            }
        }
        let (sources, continuation) = AsyncStream<String?>.makeStream()
        let route = ActionLogRoute(to: Recorder(sources: continuation))
        let router = Router(context: Context.self)
        route.add(to: router)
        route.add(to: router.group("v1")) { request, _ in request.uri.path }
        for (path, source) in [("log", "127.0.0.1"), ("v1/log", "/v1/log")] {
            try await LogClient.serve(router, path: Runway.EndpointPath(stringLiteral: path)) { client in
                let log = client.open()
                log.record("a")
                await log.flush()
                var found = sources.makeAsyncIterator()
                #expect(await found.next() == source)
                await log.close()
            }
        }
    }
}
