import HTTPTypes
import RunwayFormats
import RunwayTesting
import Testing

@testable import Runway

struct RetryPolicyTests {
    private func request(_ method: HTTPRequest.Method) -> Request {
        Request(head: HTTPRequest(method: method, scheme: "https", authority: "a.test", path: "/"))
    }

    @Test func waitsDoubleUpToTheirBound() {
        let policy = RetryPolicy.standard
        let ceilings = (1...9).map { policy.backoff.bound(after: $0) }
        #expect(ceilings == [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000].map { .milliseconds($0) })
        #expect(policy.backoff.bound(after: .max) == .seconds(10))
    }

    @Test func waitsThatMakeNoSenseAreBounded() {
        #expect(RetryPolicy(baseWait: .seconds(-1)).backoff.bound(after: 3) == .zero)
        #expect(RetryPolicy(baseWait: .zero).backoff.bound(after: .max) == .zero)
        #expect(RetryPolicy(longestWait: .seconds(-1)).backoff.bound(after: 3) == .zero)
        #expect(RetryPolicy(baseWait: .seconds(20)).backoff.bound(after: 1) == .seconds(10))
        let endless = RetryPolicy(baseWait: .seconds(1), longestWait: .seconds(Int64.max))
        #expect(endless.backoff.bound(after: 200) <= .seconds(Int64.max))
    }

    @Test(arguments: [
        HTTPRequest.Method.get, .head, .put, .delete, .options, .trace, HTTPRequest.Method("QUERY")!,
    ])
    func idempotentMethodIsAlwaysSentAgain(_ method: HTTPRequest.Method) {
        for sending in [SendState.notSent, .sent, .unknown] {
            #expect(RetryPolicy.standard.allows(request(method), after: .noNetwork(sending)))
        }
        #expect(RetryPolicy.standard.allows(request(method), after: .status(503)))
    }

    @Test(arguments: [HTTPRequest.Method.post, .patch, .connect])
    func unsafeMethodIsRepeatedOnlyIfNeverSent(_ method: HTTPRequest.Method) {
        let policy = RetryPolicy.standard
        #expect(policy.allows(request(method), after: .noNetwork(.notSent)))
        #expect(policy.allows(request(method), after: .timedOut(.notSent)))
        for cause in [
            RetryCause.noNetwork(.sent), .noNetwork(.unknown), .timedOut(.unknown), .overloaded, .status(502),
        ] {
            #expect(!policy.allows(request(method), after: cause))
            #expect(RetryPolicy(isRepeatable: true).allows(request(method), after: cause))
        }
    }

    @Test func idempotencyKeyMakesAPostRepeatable() throws {
        var post = request(.post)
        post.head.headerFields[.idempotencyKey] = "k"
        #expect(RetryPolicy.standard.allows(post, after: .noNetwork(.unknown)))
        #expect(RetryPolicy.standard.allows(post, after: .status(503)))
    }

    @Test func causesAreTheStatedFailuresAndNoOthers() {
        func cause(_ kind: NetworkError.Kind) -> RetryCause? {
            RetryPolicy.standard.cause(of: NetworkError(kind, in: .transporting, "x", sending: .notSent))
        }
        #expect(cause(.noNetwork) == .noNetwork(.notSent))
        #expect(cause(.timedOut) == .timedOut(.notSent))
        #expect(cause(.overloaded) == .overloaded)
        let others: [NetworkError.Kind] = [
            .invalidConfiguration, .invalidParameters, .cancelled, .notTrusted, .refused, .needsLogin, .loginCancelled,
            .service, .needsAccessToken, .invalidResponse, .unavailable, .storage,
        ]
        for kind in others { #expect(cause(kind) == nil, "\(kind)") }
    }

    @Test func onlyTheListedStatusesAreRetried() {
        for code in 200..<600 {
            var response = Response.json("{}", status: HTTPResponse.Status(code: code))
            response.verdict = Verdict(status: response.head.status, headerFields: response.head.headerFields)
            let expected: RetryCause? =
                switch code {
                case 429, 503: .overloaded
                case 408, 425, 502, 504: .status(code)
                default: nil
                }
            #expect(RetryPolicy.standard.cause(of: response) == expected)
        }
    }

    @Test func statusesOfAnEndpointsOwnCountInstead() {
        var response = Response.json("{}", status: .internalServerError)
        response.verdict = .refused
        #expect(RetryPolicy(statuses: [500]).cause(of: response) == .status(500))
        response.verdict = .failed(ServiceError(code: "1"), isAbsorbed: false)
        #expect(RetryPolicy(statuses: [500]).cause(of: response) == nil)
        response.verdict = .malformed("HTML")
        #expect(RetryPolicy(statuses: [500]).cause(of: response) == .status(500))
        response.verdict = .fine
        #expect(RetryPolicy(statuses: [500]).cause(of: response) == nil)
    }
}
