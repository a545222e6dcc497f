import HTTPTypes
import InMemoryTracing
import RunwayTesting
import ServiceContextModule
import Testing
import Tracing

@testable import Runway

struct TracingSinkTests {
    private let tracer = InMemoryTracer()
    private let start: UInt64 = 1_767_225_600_000_000_000

    @Test func spanHasTimesAndAnEventPerRequest() throws {
        TracingSink(tracer: tracer).receive(.sample())
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.operationName == "library BookSearch")
        #expect(span.kind == .client)
        #expect(span.startInstant.nanosecondsSinceEpoch == start)
        #expect(abs(Int64(span.endInstant.nanosecondsSinceEpoch) - Int64(start + 12_000_000)) < 1000)
        #expect(span.events.map(\.name) == ["request", "request"])
        #expect(span.parentSpanID == nil)
        #expect(span.status == nil && span.errors.isEmpty)
        #expect(tracer.activeSpans.isEmpty)
    }

    @Test func attributesAreThoseOfTheLastRequest() throws {
        TracingSink(tracer: tracer).receive(.sample())
        let attributes = try #require(tracer.finishedSpans.first).attributes
        #expect(attributes.get("http.request.method") == "GET")
        #expect(attributes.get("url.full") == "https://library.test/next")
        #expect(attributes.get("server.address") == "library.test")
        #expect(attributes.get("server.port") == .int64(443))
        #expect(attributes.get("http.response.status_code") == 200)
        #expect(attributes.get("error.type") == nil)
        #expect(attributes.get("runway.outcome") == "succeeded")
        #expect(attributes.get("runway.flight") == .int64(7))
        #expect(attributes.get("runway.network") == "default")
    }

    @Test(arguments: [
        ("http://LIBRARY.test/books?of=a:1", "library.test", 80), ("https://127.0.0.1:8443", "127.0.0.1", 8443),
        ("https://[2001:db8::7]:8443/books", "2001:db8::7", 8443), ("https://[2001:db8::7]/", "2001:db8::7", 443),
    ])
    func spanNamesHostAndPortOfLastURL(url: String, address: String, port: Int) throws {
        var record = FlightRecord.sample()
        record.attempts[1].url = url
        TracingSink(tracer: tracer).receive(record)
        let attributes = try #require(tracer.finishedSpans.first).attributes
        #expect(attributes.get("server.address") == .string(address))
        #expect(attributes.get("server.port") == .int64(Int64(port)))
    }

    @Test(arguments: [
        (NetworkError(.refused, in: .judging, "x", status: .notFound), "404"),
        (NetworkError(.needsAccessToken, in: .judging, "x", status: .unauthorized), "401"),
        (NetworkError(.service, in: .judging, "x", status: .ok), "service"),
        (NetworkError(.timedOut, in: .deadline, "x"), "timedOut"),
    ])
    func errorTypeIsItsStatusOrItsKind(error: NetworkError, type: String) throws {
        TracingSink(tracer: tracer).receive(.sample(.failed(error)))
        let attributes = try #require(tracer.finishedSpans.first).attributes
        #expect(attributes.get("error.type") == .string(type))
    }

    @Test func failureSetsTheErrorStatus() throws {
        let error = NetworkError(.refused, in: .judging, "The server responded with status 404 Not Found.")
        TracingSink(tracer: tracer).receive(.sample(.failed(error)))
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.status?.code == .error)
        #expect(span.status?.message == "The server responded with status 404 Not Found.")
        #expect(span.errors.count == 1 && span.errors.first?.error is NetworkError)
    }

    @Test func outcomeThatIsNoFailureIsNoError() throws {
        TracingSink(tracer: tracer).receive(.sample(.cancelled))
        #expect(try #require(tracer.finishedSpans.first).status == nil)
    }

    @Test func spanIsAChildOfTheCallersSpan() async throws {
        let layer = StubbedLayer(sinks: [TracingSink(tracer: tracer)])
        layer.clock.advance(by: .seconds(5))
        let parent = tracer.startSpan("screen", context: .topLevel)
        _ = try await ServiceContext.withValue(parent.context) { try await layer.network.call(QueryCall()) }
        await layer.network.flushRecords()
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.operationName == "library QueryCall")
        #expect(span.parentSpanID == parent.spanID)
        #expect(span.traceID == parent.traceID)
        #expect(span.startInstant.nanosecondsSinceEpoch == start + 5_000_000_000)
        parent.end()
    }
}
