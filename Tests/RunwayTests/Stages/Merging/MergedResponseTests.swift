import Foundation
import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// Malformed responses to envelopes: each request ends in one clear outcome.
@Suite(.timeLimit(.minutes(10)))
struct MergedResponseTests {
    private static let good = #"{"id":"1","status":200,"headers":[],"body":"{}"}"#

    private func outcomes(
        _ response: @escaping EnvelopeServer.Respond, of count: Int = 2
    ) async throws -> (outcomes: [Result<RawData, NetworkError>], layer: MergingLayer) {
        let layer = MergingLayer(EnvelopeServer(envelope: response))
        var outcomes: [Result<RawData, NetworkError>] = []
        for call in try await layer.merge((1...count).map { Read("item/\($0)") }) {
            do { outcomes.append(.success(try await call.value)) } catch let error as NetworkError {
                outcomes.append(.failure(error))
            }
        }
        return (outcomes, layer)
    }

    @Test(arguments: [
        #"{"responses":[\#(good)]}"#,
        #"{"responses":[\#(good),{"id":"2","status":200,"body":"a"},{"id":"2","status":200,"body":"b"}]}"#,
        #"{"responses":[\#(good),{"id":2,"status":200,"headers":[]}]}"#,
        #"{"responses":[\#(good),{"id":"02","status":200,"headers":[]}]}"#,
        #"{"responses":[\#(good),{"id":"2"}]}"#,
        #"{"responses":[\#(good),{"id":"2","status":"200"}]}"#,
        #"{"responses":[\#(good),{"id":"2","status":0}]}"#,
        #"{"responses":[\#(good),{"id":"2","status":101}]}"#,
        #"{"responses":[\#(good),{"id":"2","status":1000}]}"#,
        #"{"responses":[\#(good),{"id":"2","status":200,"headers":{"a":"b"}}]}"#,
        #"{"responses":[\#(good),{"id":"2","status":200,"headers":[["a"]]}]}"#,
        #"{"responses":[\#(good),{"id":"2","status":200,"headers":[["a b","c"]]}]}"#,
        #"{"responses":[\#(good),{"id":"2","status":200,"headers":[["a","b\r\nc: d"]]}]}"#,
        #"{"responses":[\#(good),{"id":"2","status":200,"headers":[["Content-Encoding","gzip"]],"body":"x"}]}"#,
        #"{"responses":[\#(good),{"id":"2","status":200,"headers":[],"body":{}}]}"#,
        #"{"responses":[\#(good),{"id":"2","status":200,"headers":[],"body":"a","bodyBase64":"YQ=="}]}"#,
        #"{"responses":[\#(good),{"id":"2","status":200,"headers":[],"bodyBase64":"%%%"}]}"#,
        #"{"responses":[\#(good),"2"]}"#,
    ])
    func faultyItemFailsAlone(_ response: String) async throws {
        let (outcomes, layer) = try await outcomes { _ in .json(response) }
        #expect(try outcomes[0].get().bytes == Array("{}".utf8))
        let error = try #require(outcomes[1].error)
        #expect(error.kind == .invalidResponse)
        #expect(error.step == .merging)
        #expect(error.status == .ok)
        #expect(layer.server.requests.count == 2)
        #expect(layer.network.merger.laneCount == 0)
    }

    @Test(arguments: [
        "", "not JSON", "[]", "{}", #"{"responses":{}}"#, #"{"responses":[\#(good),{"id":"2","sta"#, "null",
        String(repeating: "[", count: 100_000),
    ])
    func malformedEnvelopeFailsOnlyItsItems(_ response: String) async throws {
        let (outcomes, layer) = try await outcomes { _ in .json(response) }
        for outcome in outcomes { #expect(outcome.error?.kind == .invalidResponse) }
        #expect(try await layer.envelopeRecord(among: 4)?.outcome.error?.kind == .invalidResponse)
        #expect(try await layer.network.call(Read("next"))["path"].string == "/v1/next")
    }

    @Test func unknownIDsAreIgnoredAndRecorded() async throws {
        let (outcomes, layer) = try await outcomes { _ in
            .json(
                #"""
                {"responses":[{"id":"2","status":200,"headers":[],"body":"{\"n\":2}"},{"id":"9","status":200},
                {"id":"","status":200},{"status":200},{"id":"1","status":201,"headers":[],"body":"{\"n\":1}"}],"more":[1]}
                """#)
        }
        #expect(try outcomes.map { try $0.get()["n"].int } == [1, 2])
        #expect(try outcomes[0].get().response.status == .created)
        #expect(try await layer.envelopeRecord(among: 4)?.decisions(of: MergeDecision.self).last == .unknownItems(3))
    }

    @Test func responsesAreBoundedByCallersAndPolicy() async throws {
        let long = String(repeating: "x", count: 11)
        let layer = MergingLayer(
            EnvelopeServer { request in
                #expect(request.delivery == .whole(maximumByteCount: 2 * 20 + 2 * 16_384))
                return .json(
                    #"""
                    {"responses":[{"id":"1","status":200,"headers":[],"body":"\#(long)"},
                    {"id":"2","status":200,"headers":[],"body":"short"}]}
                    """#)
            })
        let calls = try await layer.merge([SmallRead(path: "1"), SmallRead(path: "2")])
        let error = try await #require(throws: NetworkError.self) { try await calls[0].value }
        #expect(error.kind == .invalidResponse)
        #expect(error.detail == "The response is larger than the 10 bytes that its caller accepts.")
        #expect(try await calls[1].value.text == "short")
    }

    @Test func bodiesAndFieldsArriveAsTheyWereSent() async throws {
        let bytes: [UInt8] = [0xFF, 0xFE, 0, 1]
        let envelope = #"""
            {"responses":[{"id":"1","status":200,"headers":[["Content-Type","image/x"],["Connection","X-Hop"],["X-Hop","1"],
            ["Set-Cookie","a=1"],["set-cookie","b=2"],["Transfer-Encoding","chunked"]],
            "bodyBase64":"\#(Data(bytes).base64EncodedString())"},
            {"id":"2","status":204,"headers":[["Date","Thu, 01 Jan 2026 00:00:00 GMT"]],"body":null}]}
            """#
        let (outcomes, _) = try await outcomes { _ in
            var response = Response.json(envelope)
            response.head.headerFields[.date] = "Fri, 02 Jan 2026 00:00:00 GMT"
            return response
        }
        let first = try outcomes[0].get()
        #expect(first.bytes == bytes)
        #expect(first.response.headerFields[values: .setCookie] == ["a=1", "b=2"])
        #expect(first.response.headerFields[.contentType] == "image/x")
        #expect(first.response.headerFields[.date] == "Fri, 02 Jan 2026 00:00:00 GMT")
        #expect(first.response.headerFields[.connection] == nil)
        #expect(first.response.headerFields[HTTPField.Name("X-Hop")!] == nil)
        #expect(first.response.headerFields[.transferEncoding] == nil)
        let second = try outcomes[1].get()
        #expect(second.bytes.isEmpty && second.response.status == .noContent)
        #expect(second.response.headerFields[.date] == "Thu, 01 Jan 2026 00:00:00 GMT")
    }

    @Test func aLostResponseFailsEveryItem() async throws {
        let (outcomes, layer) = try await outcomes { _ throws(NetworkError) in
            throw NetworkError(.noNetwork, in: .transporting, "The connection was lost.", status: nil)
        }
        for outcome in outcomes {
            let error = try #require(outcome.error)
            #expect(error.kind == .noNetwork && error.step == .transporting)
            #expect(error.detail == "The connection was lost.")
        }
        #expect(layer.server.requests.count == 2)
    }

    @Test func refusalOfTheEnvelopeIsEachItemsResponse() async throws {
        let (outcomes, layer) = try await outcomes { _ in
            var response = Response.json("busy", status: .serviceUnavailable)
            response.head.headerFields[.retryAfter] = "7"
            return response
        }
        for outcome in outcomes {
            #expect(outcome.error?.kind == .overloaded)
            #expect(outcome.error?.status == .serviceUnavailable)
        }
        #expect(try await layer.envelopeRecord(among: 4)?.outcome.error?.kind == .overloaded)
        let records = layer.records.records.filter { $0.endpoint == "Read" && $0.attempts.isEmpty }
        #expect(records.count == 2)
        for record in records {
            #expect(
                record.decisions(of: JudgingDecision.self)
                    == [JudgingDecision(status: 503, verdict: .overloaded(retryAfter: .seconds(7)))])
        }
    }

    @Test func responsesInsteadOfAnEnvelopeAreJudged() async throws {
        let (outcomes, _) = try await outcomes { _ in .json(#"{"code":401,"message":"token expired"}"#) }
        for outcome in outcomes { #expect(outcome.error?.kind == .needsAccessToken) }
    }
}

extension Result where Failure == NetworkError {
    fileprivate var error: NetworkError? { if case .failure(let error) = self { error } else { nil } }
}
