import HTTPTypes
import Runway
import Synchronization

enum Files: APIService {
    static let name = "files"
    static let environments: [ServiceEnvironment: String] = [:]
}

struct File: Endpoint {
    static let service = Files.self
    /// Every call is one request: the wire is measured.
    static let coalesces = false
    @Unencoded var name: String
    var path: EndpointPath { "\(name)" }
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

/// A layer whose transport responds at once, so that only the layer's own work is left.
func makeNetwork(responding byteCount: Int) -> NetworkLayer {
    makeNetwork(over: InstantTransport(byteCount: byteCount), at: "https://localhost")
}

/// A layer as it comes, but for the guard against loops.
func makeNetwork(over transport: any Transport, at baseURL: String) -> NetworkLayer {
    // The same request again and again is what is measured here, and no loop without end.
    let network = NetworkLayer(
        transport: transport, sinks: [NewestRecords()],
        limits: LayerLimits(admission: AdmissionLimits(maximumIdenticalRequests: nil)))
    network.configure(Files.self) { settings in
        settings.environment = "benchmark"
        settings.baseURLs["benchmark"] = baseURL
    }
    return network
}

private struct InstantTransport: Transport {
    private let response: Response

    init(byteCount: Int) {
        let head = HTTPResponse(status: .ok, headerFields: [.contentType: "application/octet-stream"])
        response = Response(
            head: head, body: .whole(RawData([UInt8](repeating: 0, count: byteCount), response: head)))
    }

    func endsInTime(_ request: Request) -> Bool { true }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response { response }
}

/// `network.call`, with all default stages, a stored record and one sink.
func networkCall(_ name: String, _ network: NetworkLayer, file: String, byteCount: Int) -> Contender {
    Contender(name: name) { count, atATime in
        try await spread(count, atATime) {
            let rawData = try await network.call(File(name: file))
            guard rawData.bytes.count == byteCount else { throw UnexpectedResponse() }
        }
    }
}

/// `manager.load` to the delegate, on the main actor.
func managerLoad(_ network: NetworkLayer, file: String, byteCount: Int) -> Contender {
    Contender(name: "manager.load") { count, atATime in
        try await Landings.run(network, file: file, byteCount: byteCount, count: count, atATime: atATime)
    }
}

/// Loads again with every landing, until all calls have been made.
@MainActor
private final class Landings: APIManagerDelegate {
    private var remaining: Int
    private var inFlightCount: Int
    private let file: String
    private let byteCount: Int
    private var managers: [APIManager<File>] = []
    private var continuation: CheckedContinuation<Void, any Error>?

    private init(file: String, byteCount: Int, count: Int, atATime: Int) {
        self.file = file
        self.byteCount = byteCount
        inFlightCount = min(count, atATime)
        remaining = count - inFlightCount
    }

    static func run(_ network: NetworkLayer, file: String, byteCount: Int, count: Int, atATime: Int) async throws {
        let landings = Landings(file: file, byteCount: byteCount, count: count, atATime: atATime)
        try await withCheckedThrowingContinuation { continuation in
            landings.continuation = continuation
            landings.managers = (0..<landings.inFlightCount).map { _ in APIManager(on: network, delegate: landings) }
            for manager in landings.managers { manager.load(File(name: file)) }
        }
    }

    func apiManagerDidSucceed(_ manager: any APIManaging) {
        guard manager.rawData?.bytes.count == byteCount else { return end(UnexpectedResponse()) }
        guard remaining > 0 else {
            inFlightCount -= 1
            if inFlightCount == 0 { end(nil) }
            return
        }
        remaining -= 1
        (manager as? APIManager<File>)?.load(File(name: file))
    }

    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { end(error) }

    private func end(_ error: (any Error)?) {
        if let error { continuation?.resume(throwing: error) } else { continuation?.resume() }
        continuation = nil
    }
}
