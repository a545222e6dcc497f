import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

struct HTTPCacheStoreTests {
    private enum Other: APIService {
        static let name = "other"
        static let environments: [ServiceEnvironment: String] = [:]
    }

    private func partition(
        _ account: String? = nil, _ service: any APIService.Type = Library.self
    ) -> CachePartition {
        CachePartition(service: service, environment: .release, account: account)
    }

    private func uri(_ path: String) -> HTTPCacheURI { HTTPCacheURI(head(path)) }

    private func head(_ path: String, _ fields: HTTPFields = [:]) -> HTTPRequest {
        HTTPRequest(method: .get, scheme: "https", authority: "a.test", path: path, headerFields: fields)
    }

    private func respond(
        _ body: String, _ sequenceNumber: UInt64, in partition: CachePartition? = nil, _ fields: HTTPFields = [:],
        asking: HTTPFields = [:], requested: Int64 = 0, received: Int64 = 1, path: String = "/a"
    ) -> HTTPStoredResponse {
        let response = HTTPResponse(status: .ok, headerFields: fields)
        return HTTPStoredResponse(
            response, .whole(RawData(Array(body.utf8), response: response)), to: head(path, asking),
            in: partition ?? self.partition(),
            times: ExchangeTimes(
                requested: .seconds(requested), received: .seconds(received),
                receivedDate: HTTPDate(seconds: 1_767_225_600 + received)),
            verdict: .fine, isVerbatim: true, sequenceNumber: sequenceNumber)
    }

    private func bodies(_ store: ResponseCache, _ path: String = "/a") -> [String?] {
        store.responses(of: uri(path), for: partition()).responses.map {
            if case .whole(let rawData) = $0.content { rawData.text } else { nil }
        }
    }

    @Test func leastRecentlyUsedTargetGoesFirst() {
        let store = ResponseCache(CacheLimits(maximumHTTPTargets: 2))
        for path in ["/a", "/b"] { store.store(respond("x", store.nextSequenceNumber()), of: uri(path)) }
        _ = store.responses(of: uri("/a"), for: partition()).responses
        store.store(respond("x", store.nextSequenceNumber()), of: uri("/c"))
        #expect(bodies(store, "/a").count == 1 && bodies(store, "/b").isEmpty && bodies(store, "/c").count == 1)
    }

    @Test func bytesAreBounded() {
        let store = ResponseCache(CacheLimits(maximumHTTPByteCount: 10_000))
        for number in 0..<100 {
            store.store(respond(String(repeating: "x", count: 3000), store.nextSequenceNumber()), of: uri("/\(number)"))
            #expect(store.byteCount <= 10_000)
        }
        #expect(store.count == 3)
        store.store(respond(String(repeating: "x", count: 20_000), store.nextSequenceNumber()), of: uri("/99"))
        #expect(store.byteCount <= 10_000 && bodies(store, "/99").isEmpty)
    }

    @Test func variantsOfOneTargetAreBounded() {
        let store = ResponseCache(CacheLimits(maximumHTTPVariants: 3))
        for number in 0..<10 {
            store.store(
                respond("\(number)", store.nextSequenceNumber(), [.vary: "Accept"], asking: [.accept: "\(number)"]),
                of: uri("/a"))
        }
        #expect(bodies(store) == ["7", "8", "9"])
    }

    @Test func zeroLimitsStoreNothing() {
        for limits in [
            CacheLimits(maximumHTTPTargets: 0), CacheLimits(maximumHTTPByteCount: -1),
            CacheLimits(maximumHTTPVariants: 0),
        ] {
            let store = ResponseCache(limits)
            store.store(respond("x", store.nextSequenceNumber()), of: uri("/a"))
            #expect(store.count == 0 && store.byteCount == 0)
        }
    }

    @Test func tooLargeBodyIsNotStored() async throws {
        let transport = StubTransport { _ in
            let head = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"])
            return Response(head: head, body: .whole(RawData([1, 2, 3], response: head)))
        }
        let network = NetworkLayer(
            transport: transport, pipeline: .tested,
            limits: LayerLimits(cache: CacheLimits(maximumHTTPBodyByteCount: 2)))
        _ = try await network.exchange(
            Request(head: head("/a")), with: Library.self, options: CallOptions(cache: .http()))
        #expect(network.cache.count == 0)
    }

    @Test func partsAreNotCombinedBeyondTheLargestBody() throws {
        let store = ResponseCache(CacheLimits(maximumHTTPBodyByteCount: 10))
        for start in stride(from: 0, to: 40, by: 4) {
            var response = respond("", store.nextSequenceNumber(), [.eTag: "\"1\""])
            let range = try #require(ContentRange("bytes \(start)-\(start + 3)/1000"))
            response.content = .partial(try #require(PartialContent([1, 2, 3, 4], at: range)))
            #expect(store.store(response, of: uri("/a")))
            let stored = store.responses(of: uri("/a"), for: partition()).responses
            #expect(stored.count == 1 && stored[0].content.byteCount <= 10)
            guard case .partial(let content) = stored[0].content else { throw Refused("not a part") }
            #expect(content.content(of: .from(start, through: start + 3)) != nil)
        }
    }

    @Test func fieldsOfRequestsAndTargetsCount() {
        let long = String(repeating: "x", count: 5000)
        let store = ResponseCache(CacheLimits())
        store.store(respond("", store.nextSequenceNumber(), asking: [.userAgent: long]), of: uri("/a"))
        #expect(store.byteCount > 5000)
        store.store(respond("", store.nextSequenceNumber()), of: uri("/" + long))
        #expect(store.byteCount > 10_000)
    }

    @Test func indexesOfJSONCount() async throws {
        let cached = HTTPCachedLayer()
        cached.respond(
            "[" + repeatElement("1", count: 5000).joined(separator: ",") + "]", [.cacheControl: "max-age=60"])
        try await cached.send()
        let stored = try await cached.send()
        guard case .whole(let rawData) = stored.body else { throw Refused("not whole") }
        #expect(stored.source == .cache && rawData.indexByteCount > 5000)
        #expect(cached.network.cache.byteCount > rawData.bytes.count + rawData.indexByteCount)
    }

    @Test func combinedWholesIndexCountsToo() throws {
        let store = ResponseCache(CacheLimits())
        for (part, place) in [("[1,2", "0-3"), (",34]", "4-7")] {
            var response = respond("", store.nextSequenceNumber(), [.eTag: "\"1\""])
            let range = try #require(ContentRange("bytes \(place)/8"))
            response.content = .partial(try #require(PartialContent(Array(part.utf8), at: range)))
            #expect(store.store(response, of: uri("/a")))
        }
        let stored = store.responses(of: uri("/a"), for: partition()).responses
        #expect(bodies(store) == ["[1,2,34]"] && stored[0].content.indexByteCount > 0)
        #expect(store.byteCount == stored[0].byteCount + uri("/a").text.utf8.count)
    }

    @Test func clearingRemovesOnlyItsScope() {
        let store = ResponseCache(CacheLimits())
        func fill() {
            store.clear()
            store.store(respond("nobody's", store.nextSequenceNumber()), of: uri("/a"))
            store.store(respond("kim's", store.nextSequenceNumber(), in: partition("kim")), of: uri("/a"))
            store.store(respond("other", store.nextSequenceNumber(), in: partition(nil, Other.self)), of: uri("/b"))
        }
        fill()
        #expect(store.count == 3)
        store.clear(account: "kim")
        #expect(store.count == 2 && store.responses(of: uri("/a"), for: partition("kim")).responses.isEmpty)
        fill()
        store.clear(Other.self)
        #expect(store.count == 2 && store.responses(of: uri("/b"), for: partition(nil, Other.self)).responses.isEmpty)
        store.clear()
        #expect(store.count == 0 && store.byteCount == 0)
    }

    @Test func forgottenChangesStillRefuseOldResponses() {
        let store = ResponseCache(CacheLimits())
        let sequenceNumber = store.nextSequenceNumber()
        store.invalidate([uri("/a")])
        for number in 0..<2000 { store.invalidate([uri("/\(number)")]) }
        #expect(!store.store(respond("before", sequenceNumber), of: uri("/a")))
        #expect(store.store(respond("after", store.nextSequenceNumber()), of: uri("/a")))
    }

    @Test func noOlderResponseReplacesANewerOne() {
        func winner(_ one: HTTPStoredResponse, _ other: HTTPStoredResponse) -> [String?] {
            let store = ResponseCache(CacheLimits())
            store.store(one, of: uri("/a"))
            store.store(other, of: uri("/a"))
            return bodies(store)
        }
        let now = HTTPDate(seconds: 1_767_225_600)
        func date(_ seconds: Int64) -> HTTPFields { [.date: HTTPDate(seconds: now.seconds + seconds).text] }
        // Both are in flight at once: the date decides, whichever is received last.
        let early = respond("early", 1, date(0), requested: 0, received: 10)
        let late = respond("late", 2, date(5), requested: 4, received: 6)
        #expect(winner(early, late) == ["late"] && winner(late, early) == ["late"])
        let lateByDate = respond("late by date", 1, date(9), requested: 0, received: 10)
        #expect(winner(lateByDate, late) == ["late by date"] && winner(late, lateByDate) == ["late by date"])
        // Of one date, the one that was asked for later.
        let same = respond("same", 3, date(5), requested: 5, received: 7)
        #expect(winner(same, late) == ["same"] && winner(late, same) == ["same"])
        // One after the other, the later one, even if the origin's clock was set back.
        let next = respond("next", 4, date(-500), requested: 20, received: 21)
        #expect(winner(late, next) == ["next"])
    }

    @Test func concurrentUseIsSafeAndBounded() async {
        let store = ResponseCache(CacheLimits(maximumHTTPTargets: 8, maximumHTTPByteCount: 20_000))
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(worker))
                    for _ in 0..<500 {
                        let path = "/\(Int.random(in: 0..<16, using: &random))"
                        switch Int.random(in: 0..<8, using: &random) {
                        case 0: store.invalidate([self.uri(path)])
                        case 1: store.clear(account: nil)
                        default:
                            store.store(self.respond("x", store.nextSequenceNumber()), of: self.uri(path))
                            _ = store.responses(of: self.uri(path), for: self.partition()).responses
                        }
                    }
                }
            }
        }
        #expect(store.byteCount <= 20_000 && store.count <= 8)
        store.clear()
        #expect(store.byteCount == 0)
    }
}

extension ResponseCache {
    /// A cache without a disk tier, with limits for the responses of targets.
    convenience init(_ limits: CacheLimits) {
        let clock = LayerClock(ManualClock())
        self.init(limits: limits, clock: clock, timer: DeadlineTimer(clock: clock))
    }

    /// Stores the response of a call that started right before its request was sent.
    @discardableResult
    fileprivate func store(_ response: HTTPStoredResponse, of uri: HTTPCacheURI) -> Bool {
        store(response, of: uri, from: response.sequenceNumber)
    }
}
