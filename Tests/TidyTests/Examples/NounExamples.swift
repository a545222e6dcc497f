import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import Testing

// The examples in the doc comments of the nouns that an app starts from, line by line. They are compiled and not run.

@MainActor final class RentalController: APIManagerDelegate {
    var state = ""

    func apiManagerDidSucceed(_ manager: any APIManaging) { state = "\(manager.rawData?["total"].int ?? 0) homes" }
    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { state = "\(error.kind)" }
}

final class SearchField: ParameterSource {
    var text = ""

    func endpoint(for manager: any APIManaging) -> (any Endpoint)? {
        text.isEmpty ? nil : RentalList(city: text)
    }
}

struct LanguageStage: RequestStage {
    var step: FlightStep { .customStage("language") }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        var request = request
        request.head.headerFields[.acceptLanguage] = "zh-Hans"
        flight.note("language", "asked for Chinese", in: step)
        return try await next.send(request, in: flight)
    }
}

func stubbedList() -> Response {
    Response(
        head: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
        body: .whole(RawData(Array(#"{"total": 2}"#.utf8))))
}

func uploadParts(of lines: AsyncStream<[UInt8]>) -> RequestBody {
    .stream(BodyStream(lines), byteCount: nil, isReplayable: false)
}

func expectOneRetry(in records: [FlightRecord]) {
    let record = records[0]
    #expect(record.outcome.kind == .succeeded)
    #expect(record.attempts.count == 2)
    #expect(record.decisions.contains { $0.name == "retried" })
}

func signIn(_ json: RawData, to network: NetworkLayer) async throws {
    let token = AccessToken(
        try json["access_token"].require(String.self), account: try json["user"].require(String.self),
        expiry: network.clock.date.addingTimeInterval(3600), refreshToken: json["refresh_token"].string)
    try await network.signIn(token, to: Listings.self)
}

func describe(_ error: NetworkError) -> String {
    switch error.serviceError?.code {
    case "SOLD": "This home is sold."
    default: error.serviceError?.message ?? "\(error)"
    }
}

func useStaging(_ network: NetworkLayer) {
    network.configure(Listings.self) { settings in
        settings.environment = .development
        settings.commonHeaders["X-Client"] = "simulator"
        settings.deadline = .seconds(60)
    }
}

func makeLoggingLayer(over transport: any Transport, folder: URL) -> NetworkLayer {
    NetworkLayer(
        transport: transport,
        sinks: [LogSink(), MetricsSink(), TracingSink()],
        redaction: Redaction(recordsBodies: true),  // forms and JSON without their secrets
        tokens: FileTokenStore(folder: folder))
}

struct PhotoUpload: Endpoint {
    static let service = Listings.self
    static let method = HTTPRequest.Method.post
    static let encoding = ParameterEncoding.multipart()
    @Unencoded var photo: URL
    var path: EndpointPath { "photos" }
    var parts: [FormPart] {
        get throws { [.field("title", "Garden"), try .file(photo, name: "photo", contentType: "image/jpeg")] }
    }
}
