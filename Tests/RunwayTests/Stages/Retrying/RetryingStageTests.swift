import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

@Suite(.timeLimit(.minutes(10)))
struct RetryingStageTests {
    @Test func firstSuccessLeavesOneAttemptAndNoLine() async throws {
        let flaky = FlakyLayer([.fine])
        _ = try await flaky.call(QueryCall()).get()
        #expect(flaky.attemptCount == 1)
        #expect(try await flaky.decisions().isEmpty)
        #expect(flaky.layer.clock.now.offset == .zero)
    }

    @Test(arguments: [
        Result<Response, NetworkError>.lost(), .lost(.timedOut), .lost(.overloaded), .status(408), .status(425),
        .status(429), .status(502), .status(503), .status(504),
    ])
    func failureThatMayPassIsTriedAgain(_ failure: Result<Response, NetworkError>) async throws {
        let flaky = FlakyLayer([failure, failure, .fine])
        _ = try await flaky.call(QueryCall()).get()
        #expect(flaky.attemptCount == 3)
        let record = try await flaky.layer.record()
        #expect(record.attempts.count == 3)
        #expect(record.outcome.name == "succeeded")
        let cause = try #require(
            {
                if case .again(_, _, let cause, _) = record.decisions(of: RetryDecision.self).first {
                    cause
                } else {
                    nil
                }
            }())
        let waits = record.decisions(of: RetryDecision.self).map { decision -> Duration? in
            guard case .again(_, let wait, cause, nil) = decision else { return nil }
            return wait
        }
        #expect(waits.count == 2)
        let (first, second) = (try #require(waits[0]), try #require(waits[1]))
        #expect(first <= .milliseconds(250) && second <= .milliseconds(500))
        // What the record says was waited is what the clock saw.
        #expect(record.attempts[1].start == first)
        #expect(record.attempts[2].start == first + second)
    }

    @Test(arguments: [
        Result<Response, NetworkError>.lost(.notTrusted), .lost(.invalidResponse), .lost(.cancelled), .status(400),
        .status(401), .status(404), .status(500), .status(501), .status(301),
    ])
    func failureThatStaysIsNotTriedAgain(_ failure: Result<Response, NetworkError>) async throws {
        let flaky = FlakyLayer([failure, .fine])
        #expect(await flaky.call(QueryCall()).failure != nil)
        #expect(flaky.attemptCount == 1)
        #expect(try await flaky.decisions().isEmpty)
    }

    @Test func lastFailureEndsTheCallAfterAllAttempts() async throws {
        let flaky = FlakyLayer([.lost(), .status(502), .status(503)])
        let error = await flaky.call(QueryCall()).failure
        #expect(error?.kind == .overloaded && error?.status == .serviceUnavailable && error?.attempt == 3)
        #expect(try await flaky.decisions().last == .gaveUp(.attemptsUsed(3), cause: .overloaded))
        #expect(flaky.attemptCount == 3)
    }

    @Test func callPolicyWinsOverTheEndpoints() async throws {
        struct Stubborn: Endpoint {
            static let service = Library.self
            static let retry = RetryPolicy(maximumAttempts: 6, baseWait: .milliseconds(1))
            var path: EndpointPath { "s" }
        }
        let six = FlakyLayer([.lost()])
        _ = await six.call(Stubborn())
        #expect(six.attemptCount == 6)
        let two = FlakyLayer([.lost()])
        _ = await two.call(Stubborn(), options: CallOptions(retry: RetryPolicy(maximumAttempts: 2)))
        #expect(two.attemptCount == 2)
        for policy in [RetryPolicy.off, RetryPolicy(maximumAttempts: 0), RetryPolicy(maximumAttempts: .min)] {
            let one = FlakyLayer([.lost()])
            _ = await one.call(Stubborn(), options: CallOptions(retry: policy))
            #expect(one.attemptCount == 1)
            #expect(try await one.decisions().isEmpty)
        }
    }

    @Test func onlyAnUnsentPostIsRetried() async throws {
        let refused = FlakyLayer([.lost(.noNetwork, .notSent), .fine])
        _ = try await refused.call(JSONCall()).get()
        #expect(refused.attemptCount == 2)
        for failure in [Result<Response, NetworkError>.lost(), .lost(.noNetwork, .sent), .status(503), .status(429)] {
            let lost = FlakyLayer([failure, .fine])
            #expect(await lost.call(JSONCall()).failure != nil)
            #expect(lost.attemptCount == 1)
            guard case .gaveUp(.notRepeatable, _) = try await lost.decisions().first else {
                Issue.record("the record does not say why")
                continue
            }
        }
    }

    @Test func attemptsOfACallShareOneIdempotencyKey() async throws {
        struct Order: Endpoint {
            static let service = Library.self
            static let method = HTTPRequest.Method.post
            static let sendsIdempotencyKey = true
            var path: EndpointPath { "orders" }
        }
        let flaky = FlakyLayer([.lost(), .status(503), .fine])
        _ = try await flaky.call(Order()).get()
        _ = try await flaky.call(Order()).get()
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        let keys = try flaky.layer.transport.requests.map { try #require($0.head.headerFields[name]) }
        #expect(keys.count == 4)
        #expect(Set(keys.prefix(3)).count == 1)
        #expect(keys[3] != keys[0])
        // The draft's value is a structured string: quotes around 128 bits that nobody guesses.
        for key in keys { #expect(key.wholeMatch(of: /"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"/) != nil) }
    }

    @Test func callersIdempotencyKeyMakesAPostRepeatable() async throws {
        let flaky = FlakyLayer([.lost(), .fine])
        _ = try await flaky.call(JSONCall(fields: ["Idempotency-Key": "\"mine\""])).get()
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        #expect(flaky.layer.transport.requests.map { $0.head.headerFields[name] } == ["\"mine\"", "\"mine\""])
    }

    @Test func endpointWithoutKeysSendsNone() async throws {
        let layer = StubbedLayer()
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        #expect(try await layer.request(of: JSONCall()).head.headerFields[name] == nil)
    }

    @Test func unrepeatableBodyIsSentOnce() async throws {
        let once = RequestBody.stream(BodyStream([1]), byteCount: 1, isReplayable: false)
        let flaky = FlakyLayer([.lost(.noNetwork, .notSent), .fine])
        #expect(await flaky.call(RawCall(bytes: once)).failure?.kind == .noNetwork)
        #expect(try await flaky.decisions() == [.gaveUp(.bodyUsed, cause: .noNetwork(.notSent))])
        let again = FlakyLayer([.lost(), .fine])
        _ = try await again.call(RawCall(bytes: .stream(BodyStream([1]), byteCount: 1, isReplayable: true))).get()
        #expect(again.attemptCount == 2)
    }

    @Test func exchangeIsSentOnceByDefault() async throws {
        let request = Request(head: HTTPRequest(method: .get, scheme: "https", authority: "a.test", path: "/"))
        let flaky = FlakyLayer([.status(503)])
        let response = try await flaky.layer.network.exchange(request, with: Library.self)
        #expect(response.head.status == .serviceUnavailable)
        #expect(flaky.attemptCount == 1)
        _ = await flaky.layer.drive { network in
            try? await network.exchange(request, with: Library.self, options: CallOptions(retry: .standard))
        }
        #expect(flaky.attemptCount == 4)
    }

    @Test func streamIsRetriedOnlyBeforeItsHead() async throws {
        let flaky = FlakyLayer([.lost(), .status(503), .fine])
        let body = await flaky.layer.drive { network in try? await network.stream(QueryCall()).body }
        #expect(try await #require(body).collect(upTo: 9) == Array("{}".utf8))
        #expect(flaky.attemptCount == 3)

        let torn = Response(
            head: HTTPResponse(status: .ok),
            body: .stream(BodyStream { { throw NetworkError(.noNetwork, in: .transporting, "torn") } }))
        let late = FlakyLayer([.success(torn)])
        let response = try await late.layer.network.stream(QueryCall())
        await #expect(throws: NetworkError.self) { try await response.body.collect(upTo: 1) }
        #expect(late.attemptCount == 1)
    }
}

extension Result {
    /// The error; `nil` of a success.
    var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
