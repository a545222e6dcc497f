import Foundation
import HTTPTypes
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// What a service says of a response decides how the call ends: one kind of error, one outcome on the record.
struct EnvelopeTests {
    private func layer(_ body: String, status: HTTPResponse.Status = .ok, _ fields: HTTPFields = [:]) -> StubbedLayer {
        StubbedLayer { _ in
            var head = HTTPResponse(status: status)
            head.headerFields = fields
            head.headerFields[.contentType] = "application/json"
            return Response(head: head, body: .whole(RawData(Array(body.utf8), response: head)))
        }
    }

    private func expect(
        _ layer: StubbedLayer, endsIn kind: NetworkError.Kind, of cause: ServiceError? = nil, saying detail: String,
        outcome: String = "failed", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let error = try await layer.failure(of: PaintingList())
        #expect(error.kind == kind && error.serviceError == cause, sourceLocation: sourceLocation)
        #expect(error.step == .judging, sourceLocation: sourceLocation)
        #expect(error.detail.hasPrefix(detail), sourceLocation: sourceLocation)
        #expect(error.host == "museum.test" && error.attempt == 1, sourceLocation: sourceLocation)
        #expect(try await layer.record().outcome.name == outcome, sourceLocation: sourceLocation)
    }

    @Test func fineEnvelopeSucceeds() async throws {
        let layer = layer(#"{"code":0,"result":["Sunflowers"]}"#)
        #expect(try await layer.network.call(PaintingList())["result"][0].string == "Sunflowers")
        let record = try await layer.record()
        #expect(record.outcome.name == "succeeded")
        #expect(record.decisions(of: JudgingDecision.self) == [JudgingDecision(status: 200, verdict: .fine)])
    }

    @Test func serviceErrorAt200HasTheServicesCode() async throws {
        let layer = layer(#"{"code":17,"msg":"房间不存在"}"#)
        try await expect(
            layer, endsIn: .service, of: ServiceError(code: "17", message: "房间不存在"),
            saying: "The service responded with its error 17: 房间不存在.")
        #expect(
            try await layer.record().decisions(of: JudgingDecision.self).map(\.verdict)
                == [.failed(ServiceError(code: "17", message: "房间不存在"), isAbsorbed: false)])
    }

    @Test func absorbedErrorIsThrownAndRecordedAsAbsorbed() async throws {
        let layer = layer(#"{"code":901}"#)
        try await expect(
            layer, endsIn: .service, of: ServiceError(code: "901"),
            saying: "The service responded with its error 901.", outcome: "absorbed")
        let outcome = try await layer.record().outcome
        #expect(outcome.kind == .absorbed && outcome.serviceError == ServiceError(code: "901"))
    }

    @Test func tokenRefusedInside200NeedsAnAccessToken() async throws {
        try await expect(
            layer(#"{"code":401}"#), endsIn: .needsAccessToken,
            saying:
                "The server responded with status 200 OK: the access token is missing or was refused; the body starts with: "
        )
    }

    @Test func loginNeededIsAKindOfItsOwn() async throws {
        try await expect(
            layer(#"{"code":402}"#), endsIn: .needsLogin,
            saying: "The server responded with status 200 OK: the user has to log in; the body starts with: "
        )
    }

    @Test func overloadNamesTheWait() async throws {
        try await expect(
            layer(#"{"code":429}"#), endsIn: .overloaded,
            saying:
                "The server responded with status 200 OK: the service asks for fewer requests, try again in 3 s; the body "
        )
        try await expect(
            layer("", status: .serviceUnavailable, [.retryAfter: "soon"]), endsIn: .overloaded,
            saying:
                "The server responded with status 503 Service Unavailable: the server can't handle requests for now.")
        try await expect(
            layer("", status: .tooManyRequests), endsIn: .overloaded,
            saying: "The server responded with status 429 Too Many Requests: too many requests.")
    }

    @Test func envelopeOfAnotherShapeIsAnInvalidResponse() async throws {
        try await expect(
            layer(#"["code"]"#), endsIn: .invalidResponse,
            saying: "The server responded with status 200 OK, but its envelope could not be read: \"code\" is missing; "
        )
    }

    @Test func invalidJSONIsReportedWithItsPosition() async throws {
        let error = try await layer("<html>502").failure(of: PaintingList())
        #expect(error.kind == .invalidResponse)
        #expect(
            error.detail
                == "The server responded with status 200 OK, but its envelope could not be read: The body is not JSON "
                + "(line 1, column 1, byte 0): expected a value, found '<'; the body starts with: <html>502",
            "the start of the body appears once")
    }

    @Test func statusIsJudgedBeforeTheEnvelope() async throws {
        try await expect(
            layer(#"{"code":0}"#, status: .notFound), endsIn: .refused,
            saying: #"The server responded with status 404 Not Found; the body starts with: {"code":0}"#)
        try await expect(
            layer("", status: .unauthorized), endsIn: .needsAccessToken,
            saying: "The server responded with status 401 Unauthorized: the access token is missing or was refused.")
        try await expect(
            layer("", status: HTTPResponse.Status(code: 599)), endsIn: .refused,
            saying: "The server responded with status 599.")
    }

    @Test(arguments: [
        HTTPResponse.Status.badRequest, .unauthorized, .forbidden, .tooManyRequests, .internalServerError,
    ])
    func refusalShowsTheStartOfItsBody(_ status: HTTPResponse.Status) async throws {
        let body =
            #"{"title":"The city is unknown.","password":"hunter2","more":""# + String(repeating: "x", count: 5000)
        let error = try await layer(body, status: status).failure(of: PaintingList())
        #expect(
            error.detail.contains(#"; the body starts with: {"title":"The city is unknown.","password":"[redacted]""#))
        #expect(error.detail.utf8.count < 400 && !error.detail.contains("hunter2") && error.detail.hasSuffix("…"))
        #expect(error.rawData?.bytes.count == body.utf8.count)
    }

    @Test(arguments: [
        ("", "The server responded with status 400 Bad Request."),
        ("\u{0}\u{1}", "The server responded with status 400 Bad Request; the body starts with: "),
        ("line\none\r\n", "The server responded with status 400 Bad Request; the body starts with: line one"),
    ])
    func refusalIsOneLine(_ body: String, _ detail: String) async throws {
        let error = try await layer(body, status: .badRequest).failure(of: PaintingList())
        #expect(error.detail.hasPrefix(detail) && !error.detail.contains { $0.isNewline })
    }

    @Test(arguments: ["Sold.", "Sold!", "Sold?", "已售出。", "Sold…", "Sold"])
    func sentenceOfAServerEndsOnce(_ message: String) async throws {
        let error = try await layer(#"{"code":17,"msg":"\#(message)"}"#).failure(of: PaintingList())
        let end = message == "Sold" ? "Sold." : message
        #expect(error.detail == "The service responded with its error 17: \(end)")
    }

    @Test(arguments: [
        ("a..", "a."), ("a...", "a..."), ("a", "a"), (".", "."), ("", ""), ("a?.", "a?"), ("a.b.", "a.b."),
    ])
    func errorsEndInOneFullStop(_ detail: String, _ shown: String) {
        #expect(NetworkError(.storage, in: .saving, detail).detail == shown)
    }

    @Test func redirectWithoutATargetIsRefused() async throws {
        try await expect(
            layer("", status: .found), endsIn: .refused,
            saying: "The server responded with status 302 Found, a redirect that could not be followed.")
    }

    @MainActor
    @Test func responsesAreJudgedOnceOffTheMainActor() async throws {
        _ = try await StubbedLayer().network.call(WatchedCall())
        #expect(Watched.judgements.withLock { $0 } == [false])
    }

    private struct WrongOutcome: Error {}
}

private enum Watched: APIService {
    static let name = "watched"
    static let environments: [ServiceEnvironment: String] = [.release: "https://watched.test"]
    /// Whether each judgement was made on the main actor's thread; used by one test alone.
    static let judgements = Mutex<[Bool]>([])

    static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
        judgements.withLock { $0.append(Thread.isMainThread) }
        return .fine
    }
}

private struct WatchedCall: Endpoint {
    static let service = Watched.self
    var path: EndpointPath { "w" }
}
