import HTTPTypes
import Runway
import Synchronization

enum Listings: APIService {
    static let name = "listings"
    static let environments: [ServiceEnvironment: String] = [.release: "https://api.example.com/v2"]
}

/// A list as an app asks for it: a path and a few parameters.
struct RentalList: Endpoint {
    static let service = Listings.self
    static let cache = CachePolicy.untilEvicted()
    static let overlap = OverlapPolicy.concurrent
    var path: EndpointPath { "rental/list" }
    var city: String
    var priceBelow: Int?
    var page: Int
}

/// A file whose response is not stored, and whose requests are not shared.
struct Photo: Endpoint {
    static let service = Listings.self
    static let coalesces = false
    @Unencoded var name: String
    var path: EndpointPath { "\(name)" }
}

/// The lists that the benchmark asks for, over and over.
let lists = (0..<512).map { RentalList(city: ["shanghai", "beijing"][$0 % 2], priceBelow: 4000 + $0, page: $0) }

/// Responds at once with a number of bytes, and counts how often.
final class InstantTransport: Transport {
    private let response: Response
    private let count = Atomic(0)

    init(byteCount: Int) {
        let head = HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"])
        let body = Array("[\(String(repeating: " ", count: byteCount - 2))]".utf8)
        response = Response(head: head, body: .whole(RawData(body, response: head)))
    }

    var sentCount: Int { count.load(ordering: .relaxed) }

    func endsInTime(_ request: Request) -> Bool { true }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        count.wrappingAdd(1, ordering: .relaxed)
        return response
    }
}

/// A sink that stores the newest records, as an inspector would.
final class NewestRecords: EventSink {
    private let stored = Mutex<[FlightRecord]>([])

    func receive(_ record: FlightRecord) {
        stored.withLock { records in
            if records.count >= 1000 { records.removeFirst(500) }
            records.append(record)
        }
    }
}

/// A layer with cached responses to all the lists.
func filledNetwork(_ transport: InstantTransport, sinks: [any EventSink] = []) async throws -> NetworkLayer {
    let network = NetworkLayer(transport: transport, sinks: sinks)
    for list in lists { _ = try await network.call(list) }
    return network
}
