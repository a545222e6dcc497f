import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

struct CacheKeyTests {
    private let network = NetworkLayer(transport: StubTransport { _ in .json("{}") })

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

    @Test func whateverChangesTheAnswerChangesTheKey() throws {
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

    @Test func theOrderOfDifferentFieldsDoesNotSplitAKey() throws {
        let flight = network.makeFlight(Work.self, .standard)
        let keys = [[("A", "1"), ("B", "2")], [("B", "2"), ("A", "1")]].map { fields in
            var head = HTTPRequest(method: .get, scheme: "https", authority: "gallery.test", path: "/")
            for (name, value) in fields { head.headerFields[HTTPField.Name(name) ?? .accept] = value }
            return CacheKey(Request(head: head), in: flight)
        }
        #expect(keys[0] != nil && keys[0] == keys[1] && keys[0]?.hashValue == keys[1]?.hashValue)
        #expect(keys[0]?.canonicalForm == keys[1]?.canonicalForm)
    }

    @Test func theDescriptionSaysNothingOfTheRequest() throws {
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
