import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

@Suite(.timeLimit(.minutes(5)))
struct CoalescingTests {
    private struct Put: Endpoint {
        static let service = Library.self
        static let method = HTTPRequest.Method.put
        var path: EndpointPath { "shelf/1" }
    }
    private struct Alone: Endpoint {
        static let service = Library.self
        static let coalesces = false
        var path: EndpointPath { "alone" }
    }
    private struct Head: Endpoint {
        static let service = Library.self
        static let method = HTTPRequest.Method.head
        var path: EndpointPath { "shelf/1" }
    }

    @Test(arguments: [true, false]) func identicalReadsShareOneRequest(listens: Bool) async throws {
        let room = ReadingRoom(listens: listens)
        var calls = [try await room.begin(Shelf(), as: 1)]
        for _ in 0..<9 { calls.append(try await room.join(Shelf())) }
        room.transport.respond(1)
        for call in calls { #expect(try await call.number == 1) }
        #expect(room.transport.sent == [1])
    }

    @Test func callAfterTheResponseSendsANewRequest() async throws {
        let room = ReadingRoom()
        for number: UInt64 in 1...3 {
            let call = try await room.begin(Shelf(), as: number)
            room.transport.respond(number)
            #expect(try await call.number == number)
        }
        #expect(room.transport.sent == [1, 2, 3])
    }

    @Test func aFailureIsSharedOnlyByTheWaiters() async throws {
        let room = ReadingRoom()
        let calls = [try await room.begin(Shelf(), as: 1), try await room.join(Shelf())]
        room.transport.respond(1, with: .failure(NetworkError(.noNetwork, in: .transporting, "gone")))
        for call in calls {
            let error = try await call.failure()
            #expect(error.kind == .noNetwork && error.attempt == 1 && error.host == "library.test")
        }
        let later = try await room.begin(Shelf(), as: 3)
        room.transport.respond(3)
        #expect(try await later.number == 3)
    }

    @Test func refusedResponseFailsEveryCallOfTheRead() async throws {
        let room = ReadingRoom()
        let calls = [try await room.begin(Shelf(), as: 1), try await room.join(Shelf())]
        room.transport.respond(1, with: .success(.json("{}", status: .notFound)))
        for call in calls { #expect(try await call.failure().kind == .refused) }
    }

    @Test(arguments: [true, false]) func oneCallerLeavingDoesNotCancelTheOthers(theFirstLeaves: Bool) async throws {
        let room = ReadingRoom()
        let first = try await room.begin(Shelf(), as: 1)
        let second = try await room.join(Shelf())
        let (leaving, staying) = theFirstLeaves ? (first, second) : (second, first)
        leaving.cancel()
        #expect(try await leaving.failure().kind == .cancelled)
        #expect(room.transport.cancelled.isEmpty)
        let third = try await room.join(Shelf())
        room.transport.respond(1)
        #expect(try await staying.number == 1)
        #expect(try await third.number == 1)
        #expect(room.transport.sent == [1], "nobody's leaving costs a second request")
    }

    @Test(arguments: [true, false]) func theLastCallerLeavingCancelsTheRequest(listens: Bool) async throws {
        let room = ReadingRoom(listens: listens)
        let calls = [try await room.begin(Shelf(), as: 1), try await room.join(Shelf()), try await room.join(Shelf())]
        for call in calls {
            #expect(room.transport.cancelled.isEmpty)
            call.cancel()
            #expect(try await call.failure().kind == .cancelled)
        }
        try await room.transport.wait { $0.cancelled == [1] }
        let later = try await room.begin(Shelf(), as: 4)
        room.transport.respond(4)
        #expect(try await later.number == 4, "what was cancelled is joined by nobody")
        room.transport.respond(1)
    }

    @Test func aCancelledCallNeitherJoinsNorStarts() async throws {
        let room = ReadingRoom()
        let first = try await room.begin(Shelf(), as: 1)
        let gate = ScriptedGate()
        for shelf in 1...2 {
            let call = Task { [network = room.network] in
                try? await gate.pass()
                return try await network.call(Shelf(number: shelf))
            }
            call.cancel()
            #expect(try await call.failure().kind == .cancelled)
        }
        room.transport.respond(1)
        _ = try await first.value
        #expect(room.transport.sent == [1])
        let records = try await room.records(count: 3)
        #expect(records.flatMap { $0.decisions(of: SharingDecision.self) }.isEmpty)
    }

    @Test func differentReadsAreSentSeparately() async throws {
        let room = ReadingRoom()
        let network = room.network
        var calls = [try await room.begin(Shelf(), as: 1)]
        calls.append(try await room.begin(Shelf(number: 2), as: 2))
        calls.append(try await room.begin(Shelf(fields: ["Accept-Language": "zh"]), as: 3))
        calls.append(try await room.begin(Shelf(fields: ["Accept-Language": "en"]), as: 4))
        calls.append(try await room.begin(Head(), as: 5))
        calls.append(room.call(Shelf(), CallOptions(cacheUse: .refresh)))
        try await room.transport.waitForArrival(of: 6)
        calls.append(room.call(Shelf(), CallOptions(cache: .timeToLive())))
        try await room.transport.waitForArrival(of: 7)
        network.configure(Library.self) { $0.account = "ann" }
        calls.append(try await room.begin(Shelf(), as: 8))
        network.configure(Library.self) { $0.account = "bob" }
        calls.append(try await room.begin(Shelf(), as: 9))
        network.configure(Library.self) { $0.environment = .releaseCandidate }
        calls.append(try await room.begin(Shelf(), as: 10))
        for number: UInt64 in 1...10 { room.transport.respond(number) }
        for (index, call) in calls.enumerated() { #expect(try await call.number == UInt64(index + 1)) }
    }

    @Test func impatientCallsFailAtOnceWithoutANetwork() async throws {
        let status = SettableNetworkStatus(.none)
        let transport = CarryingTransport()
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(ManualClock()),
            limits: LayerLimits(retrying: .none), status: status
        )
        let patient = Task { try await network.call(Shelf(), options: CallOptions(waitsForNetwork: true)) }
        try await waitUntil { network.connectivity.waitingCount >= 1 }
        let isOver = Mutex(false)
        let hasty = Task {
            defer { isOver.withLock { $0 = true } }
            return try await network.call(Shelf())
        }
        try await waitUntil { isOver.withLock({ $0 }) || network.reads.flights(waitingFor: 1).count != 1 }
        #expect(network.reads.flights(waitingFor: 1).count == 1)
        status.set(.wifi)
        try await transport.waitForArrival(of: 1)
        transport.respond(1)
        #expect(try await patient.number == 1)
        #expect(try await hasty.failure().kind == .noNetwork)
    }

    @Test func callsWithDifferentRetryPoliciesShareNoFailure() async throws {
        let room = ReadingRoom()
        let once = room.call(Shelf(), CallOptions(retry: .off))
        try await room.transport.waitForArrival(of: 1)
        let other = room.call(Shelf())
        try await room.settle { room.transport.parked.count == 2 || room.network.reads.waitingCount == 2 }
        try await room.settle {
            room.network.reads.flights(waitingFor: 1).count == 2 || room.transport.parked.count == 2
        }
        #expect(room.network.reads.flights(waitingFor: 1).count == 1)
        for number: UInt64 in 1...2 { room.transport.respond(number) }
        for call in [once, other] { _ = try await call.value }
    }

    @Test func readAfterAClearJoinsNoEarlierOne() async throws {
        for clear in [
            { @Sendable (network: NetworkLayer) in network.cache.clear() }, { $0.cache.clear(Library.self) },
            { $0.cache.clear(Shelf.self) }, { try? $0.clearCache(of: Shelf()) },
        ] {
            let room = ReadingRoom()
            let before = try await room.begin(Shelf(), as: 1)
            clear(room.network)
            let after = room.call(Shelf())
            try await room.settle { room.transport.parked.count == 2 || room.network.reads.waitingCount == 2 }
            #expect(room.network.reads.flights(waitingFor: 1).count == 1)
            try await room.settle {
                room.transport.parked.count == 2 || room.network.reads.flights(waitingFor: 1).count == 2
            }
            for number in room.transport.parked { room.transport.respond(number) }
            #expect(try await before.number == 1)
            #expect(try await after.number != 1)
        }
    }

    @Test func clearingSomethingElseLetsReadsBeShared() async throws {
        let room = ReadingRoom()
        let first = try await room.begin(Shelf(), as: 1)
        room.network.cache.clear(BookSearch.self)
        room.network.cache.clear(Estates.self)
        room.network.cache.clear(account: "ann")
        let second = try await room.join(Shelf())
        room.transport.respond(1)
        for call in [first, second] { #expect(try await call.number == 1) }
    }

    @Test func streamsAndChangesAreSentSeparately() async throws {
        let room = ReadingRoom()
        for number: UInt64 in 1...2 { _ = try await room.begin(Put(), as: number) }
        for number: UInt64 in 3...4 { _ = try await room.begin(Alone(), as: number) }
        for number: UInt64 in 5...6 {
            Task { [network = room.network] in try await network.stream(Shelf()) }
            try await room.transport.waitForArrival(of: number)
        }
        let request = Request(head: HTTPRequest(method: .get, url: "https://library.test/x"))
        for number: UInt64 in 7...8 {
            Task { [network = room.network] in try await network.exchange(request, with: Library.self) }
            try await room.transport.waitForArrival(of: number)
        }
        for number: UInt64 in 1...8 { room.transport.respond(number) }
        #expect(try await room.records(count: 8).allSatisfy { $0.attempts.count == 1 })
    }

    @Test func headsAreShared() async throws {
        let room = ReadingRoom()
        let calls = [try await room.begin(Head(), as: 1), try await room.join(Head())]
        room.transport.respond(1)
        for call in calls { _ = try await call.value }
        #expect(room.transport.sent == [1])
    }

    private struct Query: Endpoint {
        static let service = Library.self
        static let method = HTTPRequest.Method("QUERY") ?? .get
        static let encoding = ParameterEncoding.json()
        var path: EndpointPath { "search" }
        var word: String
    }
    private struct Search: Endpoint {
        static let service = Library.self
        static let method = HTTPRequest.Method.post
        static let encoding = ParameterEncoding.json()
        var path: EndpointPath { "search" }
        var word: String
    }

    @Test func queriesOfOneBodyAreShared() async throws {
        let room = ReadingRoom()
        let calls = [try await room.begin(Query(word: "a"), as: 1), try await room.join(Query(word: "a"))]
        let other = try await room.begin(Query(word: "b"), as: 3)
        for number: UInt64 in [1, 3] { room.transport.respond(number) }
        for call in calls { #expect(try await call.number == 1) }
        #expect(try await other.number == 3)
    }

    @Test(arguments: [CachePolicy.timeToLive(), .untilEvicted(), .http(), .off])
    func cachedPostsAreShared(_ policy: CachePolicy) async throws {
        let room = ReadingRoom()
        let isShared = policy.rule == .timeToLive || policy.rule == .untilEvicted
        let first = room.call(Search(word: "a"), CallOptions(cache: policy))
        try await room.transport.waitForArrival(of: 1)
        let second = room.call(Search(word: "a"), CallOptions(cache: policy))
        try await room.settle {
            room.transport.parked.count == 2 || room.network.reads.flights(waitingFor: 1).count == 2
        }
        #expect(room.transport.parked == (isShared ? [1] : [1, 2]))
        for number in room.transport.parked { room.transport.respond(number) }
        #expect(try await first.number == 1)
        #expect(try await second.number == (isShared ? 1 : 2))
    }

    @Test func callBeyondTheSharingLimitBeginsAnotherRequest() async throws {
        let room = ReadingRoom(limits: CacheLimits(maximumCallsPerRequest: 2))
        let calls = [
            try await room.begin(Shelf(), as: 1), try await room.join(Shelf()), try await room.begin(Shelf(), as: 3),
            try await room.join(Shelf(), read: 2), try await room.begin(Shelf(), as: 5),
        ]
        for number: UInt64 in [1, 3, 5] { room.transport.respond(number) }
        for (call, number) in zip(calls, [1, 1, 3, 3, 5] as [UInt64]) { #expect(try await call.number == number) }
    }

    @Test func aRequestBeyondTheLimitIsSentSeparately() async throws {
        let room = ReadingRoom(limits: CacheLimits(maximumSharedRequests: 1))
        var calls = [try await room.begin(Shelf(), as: 1), try await room.begin(Shelf(number: 2), as: 2)]
        calls.append(try await room.begin(Shelf(number: 2), as: 3))
        calls.append(try await room.join(Shelf()))
        for number: UInt64 in 1...3 { room.transport.respond(number) }
        for (call, number) in zip(calls, [1, 2, 3, 1] as [UInt64]) { #expect(try await call.number == number) }
    }

    @Test func completedReadsLeaveNoState() async throws {
        let room = ReadingRoom()
        weak var flight: Flight?
        do {
            let first = try await room.begin(Shelf(), as: 1)
            let second = try await room.join(Shelf())
            flight = room.network.reads.flights(waitingFor: 1).last
            #expect(flight?.id.number == 2)
            room.transport.respond(1)
            _ = try await (first.value, second.value)
        }
        await room.network.flushRecords()
        #expect(room.network.reads.isEmpty)
        try await room.settle { flight == nil && room.clock.sleeperCount <= 1 }
    }
}

extension HTTPRequest {
    init(method: Method, url: String) {
        let parts = url.split(separator: "/", maxSplits: 2).map(String.init)
        self.init(
            method: method, scheme: String(parts[0].dropLast()), authority: parts[1], path: "/\(parts[2])")
    }
}
