import HTTPTypes
import Runway
import Testing

/// The prospects of a call that failed, on which every part of the package acts.
struct OutlookTests {
    private func error(
        _ kind: NetworkError.Kind, _ status: Int? = nil, _ sending: SendState = .sent, in step: FlightStep = .judging
    ) -> NetworkError {
        NetworkError(kind, in: step, "x", status: status.map { HTTPResponse.Status(code: $0) }, sending: sending)
    }

    /// The error of a whole response with header fields and a body.
    private func response(
        _ status: Int, _ fields: HTTPFields, _ body: String = "", _ kind: NetworkError.Kind = .refused
    ) -> NetworkError {
        var error = error(kind, status)
        error.rawData = RawData(
            Array(body.utf8), response: HTTPResponse(status: .init(code: status), headerFields: fields))
        return error
    }

    private static let obstacles: [(Outlook.Obstacle, [NetworkError.Kind])] = [
        (.connection, [.noNetwork, .timedOut]), (.unavailable, [.overloaded, .unavailable]),
        (.untrusted, [.notTrusted]), (.login, [.needsLogin, .needsAccessToken]), (.refused, [.service]),
        // A stage of the app refused without a status.
        (.fault, [.refused]),
        (.unreadable, [.invalidResponse]), (.app, [.invalidConfiguration, .invalidParameters]),
        (.device, [.storage]), (.ended, [.cancelled, .loginCancelled, .notCached, .queued]),
    ]

    @Test func everyKindHasAnObstacle() {
        for (obstacle, kinds) in Self.obstacles {
            for kind in kinds { #expect(error(kind).outlook.obstacle == obstacle, "\(kind)") }
        }
        #expect(Set(Self.obstacles.flatMap(\.1)) == Set(NetworkError.Kind.all))
    }

    @Test func statusDecidesAboutRefusedResponses() {
        let expected: [(Outlook.Obstacle, [Int])] = [
            (.unreadable, [302]), (.login, [401]), (.refused, [400, 403, 404, 405, 410, 413, 422, 501, 505]),
            (.conflict, [409, 412]), (.unavailable, [408, 425, 429, 502, 503, 504]), (.fault, [500, 507, 599]),
            (.untrusted, [511]),
        ]
        for (obstacle, codes) in expected {
            for code in codes {
                #expect(error(.refused, code).outlook.obstacle == obstacle, "\(code)")
                // A page in place of the envelope hides none of these, but does not show who refused.
                let unreadable = error(.invalidResponse, code).outlook.obstacle
                #expect(unreadable == (obstacle == .refused ? .unreadable : obstacle), "\(code)")
            }
        }
    }

    @Test func serviceErrorIsFinalUnlessItsStatusPasses() {
        for code in [200, 400, 409, 422, 500] { #expect(error(.service, code).outlook.obstacle == .refused, "\(code)") }
        for code in [408, 425, 429, 502, 503, 504] {
            #expect(error(.service, code).outlook.obstacle == .unavailable, "\(code)")
        }
    }

    @Test func refusalThatNamesATimePasses() {
        for code in [403, 404, 409, 413] {
            var refusal = error(.refused, code)
            #expect(refusal.outlook.isFinal)
            refusal.retryAfter = .seconds(5)
            #expect(refusal.outlook.obstacle == .unavailable && refusal.outlook.retryAfter == .seconds(5), "\(code)")
        }
    }

    @Test func gatewayWithoutRetryAfterMayLoseRequests() {
        for code in [502, 503, 504] {
            #expect(error(.refused, code).outlook.isLost && error(.overloaded, code).outlook.isLost, "\(code)")
            #expect(!response(code, [.retryAfter: "soon"]).outlook.isLost, "\(code)")
        }
        #expect(error(.noNetwork, nil, .unknown).outlook.isLost && !error(.noNetwork, nil, .notSent).outlook.isLost)
        #expect(!error(.refused, 500).outlook.isLost && !error(.overloaded, 429).outlook.isLost)
    }

    @Test func certainRefusalsHadNoEffect() {
        for code in [400, 401, 403, 404, 408, 409, 422, 425, 429, 501, 505] {
            #expect(!error(.refused, code).outlook.mayHaveTakenEffect, "\(code)")
        }
        for kind in [NetworkError.Kind.service, .needsLogin, .needsAccessToken, .invalidParameters] {
            #expect(!error(kind).outlook.mayHaveTakenEffect, "\(kind)")
        }
        for kind in NetworkError.Kind.all {
            #expect(!error(kind, nil, .notSent).outlook.mayHaveTakenEffect, "\(kind)")
        }
    }

    @Test func otherSentRequestsMayHaveAnEffect() {
        for code in [302, 500, 502, 503, 504, 511] {
            #expect(error(.refused, code).outlook.mayHaveTakenEffect, "\(code)")
        }
        #expect(error(.service, 503).outlook.mayHaveTakenEffect)
        // Not the service, but something before it may have responded.
        #expect(error(.invalidResponse, 404).outlook.mayHaveTakenEffect)
        for kind in [NetworkError.Kind.noNetwork, .timedOut, .cancelled, .invalidResponse, .storage] {
            #expect(error(kind, nil, .unknown).outlook.mayHaveTakenEffect, "\(kind)")
        }
        var redirected = error(.refused, 404)
        redirected.followsProcessedRequest = true
        #expect(redirected.outlook.mayHaveTakenEffect)
        // The token was missing for another attempt.
        #expect(error(.needsLogin, nil, .sent, in: .authorizing).outlook.mayHaveTakenEffect)
    }

    @Test func keyInUseLeavesTheEffectUnknown() {
        for code in [409, 422] {
            let problem = response(
                code, [.contentType: "application/problem+json"], #"{"title":"The Idempotency-Key is in use"}"#)
            #expect(problem.outlook.mayHaveTakenEffect, "\(code)")
        }
        let executed = response(
            409, [.contentType: "application/problem+json"], #"{"type":"urn:runway:idempotency:notStored"}"#)
        #expect(executed.outlook.obstacle == .executed && executed.outlook.isFinal)
    }

    @Test func storedFailureIsNeverRepeated() throws {
        let fields: HTTPFields = [try #require(HTTPField.Name("Idempotency-Replayed")): "true"]
        for code in [500, 501, 502, 503, 504] {
            let outlook = response(code, fields).outlook
            #expect(outlook.keyEnd == .failure && outlook.obstacle == .refused, "\(code)")
        }
        #expect(response(409, fields).outlook.keyEnd == .refusal)
        #expect(response(200, fields, "", .service).outlook.keyEnd == .refusal)
        #expect(response(200, fields, "", .invalidResponse).outlook.keyEnd == nil)
    }

    @Test func onlyTheServiceCanRefuseARenewal() {
        struct Passes: Credentials {
            func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken { token }
        }
        for refusal in [
            error(.refused, 400), error(.refused, 401), error(.refused, 403), error(.refused, 409),
            error(.service, 200),
            error(.needsLogin), error(.needsAccessToken),
        ] {
            #expect(Passes().isRefusal(refusal), "\(refusal.kind) \(refusal.status?.code ?? 0)")
        }
        for other in [
            error(.refused, 429), error(.refused, 500), error(.refused, 501), error(.refused, 302),
            error(.service, 503),
            error(.invalidResponse, 403), error(.invalidParameters), error(.loginCancelled), error(.notTrusted),
            error(.noNetwork), error(.refused, 401, in: .signing),
        ] {
            #expect(!Passes().isRefusal(other), "\(other.kind) \(other.status?.code ?? 0)")
        }
    }
}
