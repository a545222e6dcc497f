import Foundation
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// Responses stored below memory.
final class CacheTierTests: Sendable {
    private let tier: FileTier
    private let layer: CachedLayer
    private let options = CallOptions.policy(.timeToLive(.seconds(10), diskLifetime: .seconds(3600)))

    init() throws {
        tier = try FileTier.temporary()
        layer = CachedLayer(diskCache: tier)
    }

    deinit { try? FileManager.default.removeItem(at: tier.directory) }

    /// A layer as the next launch of the app makes it, later by so much.
    private func nextLaunch(after seconds: Int = 0) async -> CachedLayer {
        await layer.network.cache.flush()
        let clock = ManualClock()
        let start = layer.network.clock.date.addingTimeInterval(Double(seconds))
        return CachedLayer(diskCache: tier, clock: LayerClock(clock, startingAt: start))
    }

    @Test func aStoredResponseOutlivesTheLaunch() async throws {
        #expect(try await layer.number(options) == 1)
        let later = await nextLaunch(after: 100)
        let rawData = try await later.network.call(Work(), options: options)
        #expect(rawData["n"].int == 1 && rawData.source == .cache && later.server.requestCount == 0)
        #expect(rawData.mediaType?.isJSON == true, "the head is stored with it")
        #expect(await later.lastDecisions() == [.hitOnDisk(age: .seconds(100))])
        _ = try await later.network.call(Work(), options: options)
        #expect(await later.lastDecisions() == [.hit(age: .seconds(100))], "it was brought up into memory")
    }

    @Test func eachTierHasItsOwnLifetime() async throws {
        #expect(try await layer.number(options) == 1)
        layer.clock.advance(by: .seconds(11))
        #expect(try await layer.number(options) == 1)
        #expect(await layer.lastDecisions() == [.hitOnDisk(age: .seconds(11))])
        layer.clock.advance(by: .seconds(3588))
        #expect(try await layer.number(options) == 1)
        layer.clock.advance(by: .seconds(1))
        #expect(try await layer.number(options) == 2)
        let later = await nextLaunch(after: 3600)
        #expect(try await later.number(options) == 1)
        #expect(later.server.requestCount == 1)
    }

    @Test func onlyThePolicyHasTheTierAsked() async throws {
        _ = try await layer.number(Work())
        _ = try await layer.number(QueryCall())
        _ = try await layer.number(Work())
        await layer.network.cache.flush()
        #expect(await tier.operations.isEmpty)
    }

    @Test func tierPolicyWithoutATierStoresInMemory() async throws {
        let layer = CachedLayer()
        #expect(try await layer.number(options) == 1)
        #expect(try await layer.number(options) == 1)
        let below = CallOptions.policy(.untilEvicted(inMemory: false, onDisk: true))
        #expect(try await layer.number(Artist(), below) == 2)
        #expect(try await layer.number(Artist(), below) == 3)
    }

    @Test func aPolicyOfDiskAloneTakesNoMemory() async throws {
        let below = CallOptions.policy(.untilEvicted(inMemory: false, onDisk: true))
        #expect(try await layer.number(below) == 1)
        #expect(layer.network.cache.count == 0)
        #expect(try await layer.number(below) == 1)
        #expect(layer.network.cache.count == 0)
        layer.clock.advance(by: .seconds(86_400 * 365 * 20))
        #expect(try await layer.number(below) == 1)
    }

    @MainActor @Test func memoryRespondsAtOnceAndTheTierLater() async throws {
        let recorder = LandingRecorder()
        let manager = APIManager<Work>(on: layer.network, delegate: recorder)
        _ = try await layer.number(options)
        manager.load(Work(), options: options)
        #expect(manager.rawData?["n"].int == 1)
        try await recorder.landings(count: 1)
        layer.network.cache.relieveMemory(isCritical: true)
        manager.clear()
        manager.load(Work(), options: options)
        #expect(manager.rawData == nil && manager.isLoading)
        try await recorder.landings(count: 2)
        #expect(manager.rawData?["n"].int == 1 && manager.rawData?.source == .cache)
    }

    @MainActor @Test func aStaleResponseOfTheTierLandsFirst() async throws {
        let policy = CachePolicy.timeToLive(diskLifetime: .seconds(10), staleWhileRevalidate: .seconds(3600))
        _ = try await layer.number(.policy(policy))
        let later = await nextLaunch(after: 500)
        later.server.respond(with: .success(.json(#"{"n":7}"#)))
        let recorder = LandingRecorder()
        let manager = APIManager<Work>(on: later.network, delegate: recorder)
        let flight = manager.load(Work(), options: .policy(policy))
        #expect(manager.rawData == nil)
        let landings = try await recorder.landings(count: 2)
        #expect(landings.compactMap { try? $0.result.get()["n"].int } == [1, 7])
        #expect(landings.compactMap { try? $0.result.get().source } == [.staleCache, .network])
        let record = try await later.records.records(count: 1)[0]
        #expect(
            record.id == flight
                && record.decisions(of: CacheDecision.self).first == .revalidating(staleBy: .seconds(490)))
    }

    @Test func aStaleTierResponseIsReturnedAndRevalidated() async throws {
        let policy = CachePolicy.timeToLive(diskLifetime: .seconds(10), staleWhileRevalidate: .seconds(3600))
        _ = try await layer.number(.policy(policy))
        let later = await nextLaunch(after: 500)
        later.server.respond(with: .success(.json(#"{"n":7}"#)))
        let stale = try await later.network.call(Work(), options: .policy(policy))
        #expect(stale["n"].int == 1 && stale.source == .staleCache)
        _ = try await later.records.records(count: 2)
        #expect(try await later.number(.policy(policy)) == 7)
    }

    @Test func tiersStaleResponseLandsWithoutANetwork() async throws {
        let policy = CachePolicy.timeToLive(diskLifetime: .seconds(10), staleIfError: .seconds(3600))
        _ = try await layer.number(.policy(policy))
        for (seconds, isThere) in [(500, true), (4000, false)] {
            let later = await nextLaunch(after: seconds)
            later.server.respond(with: .failure(NetworkError(.noNetwork, in: .transporting, "gone")))
            #expect(
                (try? await later.network.call(Work(), options: .policy(policy)).source)
                    == (isThere ? .staleCache : nil))
        }
    }

    @Test func wallClockSetBackMakesNothingFresh() async throws {
        #expect(try await layer.number(options) == 1)
        let earlier = await nextLaunch(after: -86_400)
        earlier.server.respond(with: .success(.json(#"{"n":7}"#)))
        #expect(try await earlier.number(options) == 7)
    }

    @Test func datesThatAreNoneDoNotTrap() {
        let now = Date(timeIntervalSince1970: 1e9)
        for seconds in [Double.nan, .infinity, -.infinity, 1e300, -1e300, 1e9 + 1] {
            let age = Date(timeIntervalSince1970: seconds).age(at: now)
            #expect(seconds < 0 ? age == .seconds(1000 * 365 * 86_400) : age == nil, "\(seconds)")
        }
        #expect(now.age(at: Date(timeIntervalSince1970: .nan)) == nil)
    }

    @Test func onlyIfCachedLooksInTheTierToo() async throws {
        _ = try await layer.number(options)
        let later = await nextLaunch(after: 86_400)
        var wish = options
        wish.cacheUse = .onlyIfCached
        #expect(try await later.network.call(Work(), options: wish).source == .staleCache)
        #expect(await later.failure(Work(id: 2), wish)?.kind == .notCached)
        #expect(later.server.requestCount == 0)
    }

    @Test func aRejectedTierEntryIsRemovedAndFetched() async throws {
        _ = try await layer.number(options)
        let later = await nextLaunch()
        later.server.respond(with: .success(.json(#"{"good":true}"#)))
        #expect(try await later.network.call(Work(refused: "n"), options: options)["good"].bool == true)
        #expect(await later.lastDecisions().contains(.refused))
    }

    @Test func tierErrorsFailNoCallAndAreNoted() async throws {
        await tier.fail("find", "store", "remove", "clear")
        #expect(try await layer.number(.policy(.untilEvicted(inMemory: false, onDisk: true))) == 1)
        #expect(await layer.lastDecisions().first == .tierFailed("Failed"))
        await layer.network.cache.flush()
        #expect(layer.network.cache.tierFailureCount == 2, "keeping failed, and then removing what was there before")
    }

    @Test func hangingTierDelaysCallsForALimitedTime() async throws {
        let gate = ScriptedGate()
        await tier.hold("find", at: gate)
        async let number = layer.number(options)
        try await gate.waitForArrivals()
        try await layer.clock.waitForSleepers()
        layer.clock.advance(by: ResponseCache.maximumTierWait)
        #expect(try await number == 1)
        #expect(await layer.lastDecisions().prefix(2) == [.tierTimedOut, .miss])
    }

    /// Cancelled calls leave their lookups behind; there are never more than sixteen of these.
    @Test(.timeLimit(.minutes(5))) func hangingTierGetsABoundedNumberOfLookups() async throws {
        let hanging = HangingTier()
        let layer = CachedLayer(diskCache: hanging)
        let bound = ResponseCache.maximumAbandonedLookups
        for count in 1...bound {
            let call = Task { [options] in try await layer.number(Work(id: count), options) }
            try await waitUntil { hanging.lookCount >= count }
            call.cancel()
            await #expect(throws: NetworkError.self) { try await call.value }
        }
        // A cancelled call does not wait for the end of its lookup.
        try await waitUntil { layer.network.cache.state.withLock({ $0.waitingLookupCount }) == 0 }
        // Time stands still: these do not wait for the tier.
        for number in 1...3 { #expect(try await layer.number(Artist(id: number), options) == number) }
        #expect(await layer.lastDecisions().prefix(2) == [.tierTimedOut, .miss])
        #expect(hanging.lookCount == bound)
        hanging.release()
        try await waitUntil { layer.network.cache.state.withLock({ $0.lookupCount }) == 0 }
        #expect(try await layer.number(Book(), options) == 4)
        #expect(hanging.lookCount == bound + 1)
    }

    @Test func missingKeysStartNoTierLookup() async throws {
        let hanging = HangingTier(mayHold: { $0.endpoint != Work.name })
        let layer = CachedLayer(diskCache: hanging)
        hanging.release()
        #expect(try await layer.number(Work(id: 1), options) == 1)
        #expect(hanging.lookCount == 0)
        #expect(try await layer.number(Artist(id: 1), options) == 2)
        #expect(hanging.lookCount == 1)
    }

    /// Many calls at a time are no sign that the tier hangs.
    @Test func manyCallsMayLookAtOnce() async throws {
        let gate = ScriptedGate()
        await tier.hold("find", at: gate)
        let calls = (1...40).map { id in Task { [layer, options] in try await layer.number(Work(id: id), options) } }
        try await gate.waitForArrivals(count: 40)
        gate.open()
        for call in calls { _ = try await call.value }
        await layer.network.events.flush()
        #expect(layer.records.records.allSatisfy { !$0.decisions(of: CacheDecision.self).contains(.tierTimedOut) })
    }

    @Test(.timeLimit(.minutes(5))) func hangingTierDelaysFlushesForALimitedTime() async throws {
        let gate = ScriptedGate()
        await tier.hold("store", at: gate)
        _ = try await layer.number(options)
        try await gate.waitForArrivals()
        let (cache, clock) = (layer.network.cache, layer.clock)
        let start = clock.now
        let flush = Task { await cache.flush() }
        let passing = Task {
            while !Task.isCancelled {
                if let next = clock.nextDeadline { clock.advance(to: next) }
                await Task.yield()
            }
        }
        #expect(await !flush.value)
        passing.cancel()
        #expect(start.duration(to: clock.now) >= ResponseCache.maximumFlushWait)
        gate.open()
        await passing.value
        #expect(await cache.flush())
    }

    @Test(.timeLimit(.minutes(5))) func cancelledFlushDoesNotWaitForTheTier() async throws {
        let gate = ScriptedGate()
        await tier.hold("store", at: gate)
        _ = try await layer.number(options)
        try await gate.waitForArrivals()
        let flush = Task { [layer] in await layer.network.cache.flush() }
        flush.cancel()
        #expect(await !flush.value)
        gate.open()
    }

    @Test func cancelledCallDoesNotWaitForTheTier() async throws {
        let gate = ScriptedGate()
        await tier.hold("find", at: gate)
        let call = Task { [layer, options] in try await layer.number(options) }
        try await gate.waitForArrivals()
        call.cancel()
        await #expect(throws: NetworkError.self) { try await call.value }
        #expect(layer.server.requestCount == 0)
    }

    @Test func whatWaitsToBeWrittenIsFound() async throws {
        let gate = ScriptedGate()
        await tier.hold("store", at: gate)
        let below = CallOptions.policy(.untilEvicted(inMemory: false, onDisk: true))
        #expect(try await layer.number(below) == 1)
        try await gate.waitForArrivals()
        #expect(try await layer.number(below) == 1)
        gate.open()
    }

    @Test func pendingClearsHideTheirEntries() async throws {
        layer.network.configure(Gallery.self) { $0.account = "ann" }
        #expect(try await layer.number(options) == 1)
        await layer.network.cache.flush()
        let gate = ScriptedGate()
        await tier.hold("clear", at: gate)
        layer.network.cache.clear(account: "ann")
        #expect(try await layer.number(options) == 2)
        gate.open()
        await layer.network.cache.flush()
        #expect(await tier.fileCount == 1)
        #expect(try await nextLaunch().network.call(Book(), options: options).source == .network)
    }

    @Test func aFailedClearIsRepeatedBeforeAnyLookup() async throws {
        #expect(try await layer.number(options) == 1)
        await layer.network.cache.flush()
        await tier.fail("clear")
        layer.network.cache.clear(Gallery.self)
        await layer.network.cache.flush()
        #expect(await tier.fileCount == 1)
        layer.server.respond(with: .failure(NetworkError(.noNetwork, in: .transporting, "gone")))
        #expect(await layer.failure(Work(), options)?.kind == .noNetwork)
        await tier.fail()
        #expect(await layer.failure(Work(), options)?.kind == .noNetwork)
        await layer.network.cache.flush()
        #expect(await tier.fileCount == 0)
    }

    @Test func clearLeavesResponsesInFlightUnwritten() async throws {
        let parked = ParkedLayer(diskCache: tier)
        async let call = parked.network.call(Work(), options: options)
        let flight = try await parked.arrival()
        parked.network.cache.clear()
        parked.respond(flight, 1)
        _ = try await call
        await parked.network.cache.flush()
        #expect(await tier.fileCount == 0)
    }

    @Test func olderResponseReplacesNoNewerOneOnDisk() async throws {
        let parked = ParkedLayer(diskCache: tier)
        let below = CachePolicy.untilEvicted(inMemory: false, onDisk: true)
        async let older = parked.network.call(Work(), options: .policy(below))
        let first = try await parked.arrival()
        async let newer = parked.network.call(Work(), options: .policy(below, .refresh))
        parked.respond(try await parked.arrival(besides: [first]), 2)
        _ = try await newer
        parked.respond(first, 1)
        _ = try await older
        await parked.network.cache.flush()
        #expect(try await parked.network.call(Work(), options: .policy(below))["n"].int == 2)
    }

    @Test(arguments: [true, false]) func evictedNewerResponseStillExcludesAnOlderOne(hasTier: Bool) async throws {
        let parked = ParkedLayer(diskCache: hasTier ? tier : nil)
        let policy = CachePolicy.untilEvicted(onDisk: true)
        async let older = parked.network.call(Work(), options: .policy(policy))
        let first = try await parked.arrival()
        async let newer = parked.network.call(Work(), options: .policy(policy, .refresh))
        parked.respond(try await parked.arrival(besides: [first]), 2)
        _ = try await newer
        parked.network.cache.relieveMemory(isCritical: true)
        parked.respond(first, 1)
        _ = try await older
        await parked.network.cache.flush()
        let stored = try? await parked.network.call(Work(), options: .policy(policy, .onlyIfCached))["n"].int
        #expect(stored == (hasTier ? 2 : nil))
    }

    @Test func clearingOneScopeLeavesTheOthersOnDisk() async throws {
        _ = try await layer.number(Work(), options)
        _ = try await layer.number(Artist(), options)
        _ = try await layer.number(Book(), options)
        layer.network.cache.clear(Work.self)
        let later = await nextLaunch()
        #expect(try await later.network.call(Work(), options: options).source == .network)
        #expect(try await later.network.call(Artist(), options: options).source == .cache)
        #expect(try await later.network.call(Book(), options: options).source == .cache)
    }
}
