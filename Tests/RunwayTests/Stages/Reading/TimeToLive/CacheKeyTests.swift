import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

struct CacheKeyTests {
    private let network = NetworkLayer(transport: StubTransport { _ in .json("{}") }, pipeline: .tested)

    private func key<E: Endpoint>(_ endpoint: E, delivery: ResponseDelivery = .whole(maximumByteCount: 1)) throws
        -> CacheKey?
    {
        let flight = network.makeFlight(E.self, .standard)
        return CacheKey(try network.assemble(endpoint, delivery: delivery, in: flight), in: flight)
    }

    @Test func equalCallsHaveEqualKeysAndHashes() throws {
        let keys = [try #require(try key(Work(id: 7))), try #require(try key(Work(id: 7)))]
        #expect(keys[0] == keys[1] && keys[0].hashValue == keys[1].hashValue)
        #expect(keys[0].canonicalForm == keys[1].canonicalForm)
    }

    @Test func everyPartOfTheRequestChangesTheKey() throws {
        var keys = [
            try key(Work(id: 1)), try key(Work(id: 2)), try key(Artist(id: 1)), try key(Book(id: 1)),
            try key(Search(text: "a")), try key(Search(text: "b")),
            try key(Work(fields: ["Accept-Language": "zh"])), try key(Work(fields: ["Accept-Language": "en"])),
            try key(Work(fields: ["X-Accept-Language": "zh"])),
        ]
        network.configure(Gallery.self) { $0.account = "" }
        keys.append(try key(Work(id: 1)))
        network.configure(Gallery.self) { $0.account = "ann" }
        keys.append(try key(Work(id: 1)))
        network.configure(Gallery.self) { $0.environment = .development }
        keys.append(try key(Work(id: 1)))
        network.configure(Gallery.self) { $0.baseURLs[.development] = "https://dev.gallery.test:8443" }
        keys.append(try key(Work(id: 1)))
        let made = keys.compactMap { $0 }
        #expect(made.count == keys.count && Set(made).count == keys.count)
        #expect(Set(made.map(\.canonicalForm)).count == keys.count)
    }

    @Test func orderOfDifferentFieldsSplitsNoKey() throws {
        let flight = network.makeFlight(Work.self, .standard)
        let keys = [[("A", "1"), ("B", "2")], [("B", "2"), ("A", "1")]].map { fields in
            var head = HTTPRequest(method: .get, scheme: "https", authority: "gallery.test", path: "/")
            for (name, value) in fields { head.headerFields[HTTPField.Name(name) ?? .accept] = value }
            return CacheKey(Request(head: head), in: flight)
        }
        #expect(keys[0] != nil && keys[0] == keys[1] && keys[0]?.hashValue == keys[1]?.hashValue)
        #expect(keys[0]?.canonicalForm == keys[1]?.canonicalForm)
    }

    /// The key of a call by what its endpoint says, before there is a request.
    private func contentKey<E: Endpoint>(_ endpoint: E) throws -> CacheKey? {
        let flight = network.makeFlight(E.self, CallOptions(cache: .timeToLive()))
        return try network.draft(endpoint, in: flight).key
    }

    @Test func everyPartOfTheContentChangesTheKey() throws {
        let composed = "caf\u{E9}"
        let decomposed = "cafe\u{301}"
        var keys = [
            try contentKey(Work(id: 1)), try contentKey(Work(id: 2)), try contentKey(Artist(id: 1)),
            try contentKey(Search(text: composed)), try contentKey(Search(text: decomposed)),
            try contentKey(Work(fields: ["Accept-Language": "zh"])),
            try contentKey(Work(fields: ["Accept-Language": "en"])),
            try contentKey(Tagged(given: ["tag": "1"])), try contentKey(Tagged(given: ["tag": 1])),
            try contentKey(Tagged(given: ["tag": ["a", "b"]])), try contentKey(Tagged(given: ["tag": ["b", "a"]])),
            try contentKey(Tagged(given: ["tag": ["a": "b"]])), try contentKey(Tagged(given: ["tag": "a", "x": "b"])),
        ]
        network.configure(Gallery.self) { $0.account = "ann" }
        keys.append(try contentKey(Work(id: 1)))
        network.configure(Gallery.self) { $0.commonParameters = ["version": 2] }
        keys.append(try contentKey(Work(id: 1)))
        network.configure(Gallery.self) { $0.commonHeaders = ["Accept-Language": "zh"] }
        keys.append(try contentKey(Work(id: 1)))
        network.configure(Gallery.self) { $0.environment = .development }
        keys.append(try contentKey(Work(id: 1)))
        network.configure(Gallery.self) { $0.baseURLs[.development] = "https://dev.gallery.test:8443" }
        keys.append(try contentKey(Work(id: 1)))
        let made = keys.compactMap { $0 }
        #expect(made.count == keys.count && Set(made).count == keys.count)
        #expect(Set(made.map(\.canonicalForm)).count == keys.count)
    }

    @Test func orderOfEqualSettingsSplitsNoKey() throws {
        let first = try #require(try contentKey(Tagged(given: ["a": 1, "b": ["c": 2, "d": 3]])))
        network.configure(Gallery.self) { $0.account = "ann" }
        network.configure(Gallery.self) { $0.account = nil }
        let second = try #require(try contentKey(Tagged(given: ["b": ["d": 3, "c": 2], "a": 1])))
        #expect(first == second && first.hashValue == second.hashValue)
        #expect(first.canonicalForm == second.canonicalForm)
        let repeated = [
            try contentKey(Tagged(given: Parameters([.init("a", 1), .init("a", 2)]))),
            try contentKey(Tagged(given: Parameters([.init("a", 2), .init("a", 1)]))),
        ]
        #expect(repeated[0] != repeated[1], "Values of one name have an order that the server sees.")
    }

    @Test func orderOfManyNamesSplitsNoKey() throws {
        let entries = (0..<1000).map { Parameters.Entry("name \($0)", .integer(Int64($0))) }
        let key = try #require(try contentKey(Tagged(given: Parameters(entries))))
        #expect(try contentKey(Tagged(given: Parameters(entries.shuffled()))) == key)
    }

    @Test func namesThatDifferInCaseCountAsSent() throws {
        func fields(_ upper: String, _ lower: String, capacity: Int) -> [String: String] {
            // The order of a dictionary depends on its capacity.
            var fields = [String: String](minimumCapacity: capacity)
            fields["X-Language"] = upper
            fields["x-language"] = lower
            return fields
        }
        let first = try contentKey(Work(fields: fields("en", "zh", capacity: 2)))
        for capacity in (1...12).map({ 1 << $0 }) {
            #expect(try contentKey(Work(fields: fields("en", "zh", capacity: capacity))) == first)
            #expect(try contentKey(Work(fields: fields("zh", "en", capacity: capacity))) != first)
        }
    }

    @Test func howACallIsWrittenCounts() throws {
        let keys = [
            try contentKey(Asked<ByQuery>()), try contentKey(Asked<ByBrackets>()), try contentKey(Asked<ByForm>()),
            try contentKey(Asked<ByJSON>()), try contentKey(Asked<BySeconds>()),
        ].compactMap { $0 }
        #expect(keys.count == 5 && Set(keys).count == 5)
        // They have one name, by which alone a disk distinguishes them.
        #expect(Set(keys.map(\.canonicalForm)).count == 5)
    }

    @Test func requestKeysNeverEqualContentKeys() throws {
        let keys = [try key(Work()), try contentKey(Work())].compactMap { $0 }
        #expect(keys.count == 2 && keys[0] != keys[1] && keys[0].canonicalForm != keys[1].canonicalForm)
    }

    @Test func undeterminedContentHasNoEarlyKey() throws {
        #expect(try contentKey(Rename()) == nil)
        #expect(try contentKey(RawQuestion()) == nil)
        #expect(try key(RawQuestion()) != (try key(RawQuestion(question: "how"))))
        let entries = [Parameters.Entry("a.b", 1), Parameters.Entry("a", ["b": 2])]
        #expect(try contentKey(Dotted(given: Parameters(entries))) == nil)
        #expect(try key(Dotted(given: Parameters(entries))) != (try key(Dotted(given: Parameters(entries.reversed())))))
    }

    @Test func invalidCallFailsDespiteACachedResponse() async throws {
        _ = try await network.call(Room())
        #expect(try await network.call(Room()).source == .cache)
        func kind<E: Endpoint>(_ endpoint: E, _ use: CacheUse) async -> NetworkError.Kind? {
            do throws(NetworkError) {
                _ = try await network.call(endpoint, options: CallOptions(cacheUse: use))
                return nil
            } catch {
                return error.kind
            }
        }
        for use in [CacheUse.standard, .onlyIfCached] {
            #expect(await kind(Room(name: ""), use) == .invalidParameters)
            #expect(await kind(Work(fields: ["X-Note": "a\nb"]), use) == .invalidParameters)
            #expect(await kind(Tagged(given: ["x": .double(.nan)]), use) == .invalidParameters)
        }
    }

    @Test func aCachedCallBuildsNoRequest() async throws {
        let first = try await network.call(Written())
        #expect(first.source == .network && Written.requestCount.load(ordering: .relaxed) == 1)
        #expect(try await network.call(Written()).source == .cache)
        #expect(Written.requestCount.load(ordering: .relaxed) == 1)
    }

    @Test func theDescriptionHidesTheRequest() throws {
        network.configure(Gallery.self) { $0.account = "hunter2@mail.test" }
        let key = try #require(try key(Work(id: 98_765, fields: ["Authorization": "Bearer hunter2"])))
        #expect(key.description.hasPrefix("gallery Work (release) "))
        #expect(!key.description.contains("hunter2") && !key.description.contains("98765"))
    }

    @Test func streamsAndChangesHaveNoKey() throws {
        #expect(try key(Work(), delivery: .streamed) == nil)
        #expect(try key(Rename()) == nil)
        let flight = network.makeFlight(Work.self, .standard)
        var request = Request(head: HTTPRequest(method: .post, scheme: "https", authority: "a.test", path: "/"))
        #expect(CacheKey(request, in: flight) != nil)
        request.body = .stream(BodyStream([1]), byteCount: 1, isReplayable: true)
        #expect(CacheKey(request, in: flight) == nil)
        for method in [HTTPRequest.Method.put, .patch, .delete, .connect, .options, .trace] {
            request.body = .none
            request.head.method = method
            #expect(CacheKey(request, in: flight) == nil, "\(method)")
        }
    }
}

/// Has the parameters that a test sets.
private struct Tagged: Endpoint {
    static let service = Gallery.self
    static let cache = CachePolicy.timeToLive()
    var path: EndpointPath { "tagged" }
    @Unencoded var given: Parameters
    var parameters: Parameters { given }
}

/// Joins nested names by dots.
private struct Dotted: Endpoint {
    static let service = Gallery.self
    static let encoding = ParameterEncoding.query(QueryStyle(writesDots: true))
    static let cache = CachePolicy.timeToLive()
    var path: EndpointPath { "tagged" }
    @Unencoded var given: Parameters
    var parameters: Parameters { given }
}

/// A room, or all of them; one without a name can't be asked for.
private struct Room: Endpoint {
    static let service = Gallery.self
    static let cache = CachePolicy.timeToLive()
    @Unencoded var name: String? = nil
    var path: EndpointPath {
        if let name { return "rooms/\(name)" }
        return "rooms/"
    }
}

/// A read that can be encoded in several ways under the same name.
private struct Asked<Way: WayToAsk>: Endpoint {
    static var service: Gallery.Type { Gallery.self }
    static var name: String { "asked" }
    static var method: HTTPRequest.Method { Way.method }
    static var encoding: ParameterEncoding { Way.encoding }
    var path: EndpointPath { "asked" }
    var tags = ["a", "b"]
}

private protocol WayToAsk: Sendable {
    static var method: HTTPRequest.Method { get }
    static var encoding: ParameterEncoding { get }
}

private enum ByQuery: WayToAsk {
    static let method = HTTPRequest.Method.get
    static let encoding = ParameterEncoding.query()
}

private enum ByBrackets: WayToAsk {
    static let method = HTTPRequest.Method.get
    static let encoding = ParameterEncoding.query(QueryStyle(arrays: .brackets))
}

private enum ByForm: WayToAsk {
    static let method = HTTPRequest.Method.post
    static let encoding = ParameterEncoding.form()
}

private enum ByJSON: WayToAsk {
    static let method = HTTPRequest.Method.post
    static let encoding = ParameterEncoding.json()
}

private enum BySeconds: WayToAsk {
    static let method = HTTPRequest.Method.post
    static let encoding = ParameterEncoding.json(dates: .secondsSince1970)
}

/// A read whose parameters are not all that it says.
private struct RawQuestion: Endpoint {
    static let service = Gallery.self
    static let method = HTTPRequest.Method.post
    static let encoding = ParameterEncoding.raw(contentType: "text/plain")
    static let cache = CachePolicy.timeToLive()
    var path: EndpointPath { "questions" }
    @Unencoded var question = "why"
    var content: RequestBody { .bytes(Array(question.utf8)) }
}

/// Counts the requests that are built from it: only they read the maximum size of a response.
private struct Written: Endpoint {
    static let requestCount = Atomic(0)
    static let service = Gallery.self
    static let cache = CachePolicy.timeToLive()
    static var maximumResponseByteCount: Int {
        requestCount.wrappingAdd(1, ordering: .relaxed)
        return 1 << 20
    }
    var path: EndpointPath { "written" }
}
