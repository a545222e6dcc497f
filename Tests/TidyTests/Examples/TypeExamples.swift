import Foundation
import HTTPTypes
import Runway
import RunwayJSON

// The examples in the doc comments of further types, line by line. They are compiled and not run.

func explanation(of error: NetworkError) -> String {
    switch error.kind {
    case .noNetwork, .timedOut: "There is no connection."
    case .needsLogin: "Log in to see your homes."
    case .service: error.serviceError?.message ?? "The request was refused."
    default: "Something went wrong."
    }
}

enum JudgingShop: APIService {
    static let environments: [ServiceEnvironment: String] = [.release: "https://shop.example.com"]

    static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
        if rawData?["error"].string == "token expired" { return .tokenRefused }
        return Verdict(status: head.status, headerFields: head.headerFields)
    }
}

struct ReserveHome: Endpoint {
    static let service = Listings.self
    static let method = HTTPRequest.Method.post
    static let overlap = OverlapPolicy.ignoreNew  // a second tap reserves nothing
    var path: EndpointPath { "reservations" }
    var home: String
}

func makeLoggedLayer(over transport: any Transport) -> NetworkLayer {
    let network = NetworkLayer(transport: transport, sinks: [LogSink()])
    return network
}

func makeLayer(over transport: any Transport, folder: URL) -> NetworkLayer {
    let network = NetworkLayer(transport: transport, tokens: FileTokenStore(folder: folder))
    return network
}

func playFilm(over network: NetworkLayer, _ play: ([UInt8]) -> Void) async throws {
    struct Film: Endpoint {
        static let service = Listings.self
        var path: EndpointPath { "film" }
    }
    let film = try await network.stream(Film())
    guard film.response.headerFields[.contentType] == "video/mp4" else { return }
    for try await part in film.body { play(part) }
}

struct LatenessStage: RequestStage {
    var step: FlightStep { .customStage("lateness") }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        if flight.deadline - flight.clock.now < .seconds(1) {
            flight.note("late", fields: ["call": "\(flight.id)"], "less than a second is left", in: step)
        }
        return try await next.send(request, in: flight)
    }
}
