import Runway
import RunwayJSON
import RunwayTesting

enum Estates: APIService {
    static let name = "estates"
    static let environments: [ServiceEnvironment: String] = [.release: "https://estates.example/v1"]
}

struct Refresh: Endpoint {
    static let service = Estates.self
    var path: EndpointPath { "refresh" }
    var page = 1
}

struct Filter: Endpoint {
    static let service = Estates.self
    static let overlap = OverlapPolicy.cancelRunning
    var path: EndpointPath { "filter" }
    var city: String
    func validate() throws {
        if city.isEmpty { throw Refused("The city is empty.") }
    }
    func validate(response: RawData) throws {
        if response["refused"].bool == true { throw Refused("The response says that it is refused.") }
    }
}

struct Refused: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// A layer over a parking transport, with what it reports.
struct ManagerBench {
    let transport: ParkingTransport
    let records = RecordCollector()
    let network: NetworkLayer

    init(
        ignoresCancellation: Bool = false, pipeline: RequestPipeline = RequestPipeline.tested,
        admission: AdmissionLimits = .none
    ) {
        transport = ParkingTransport(ignoresCancellation: ignoresCancellation)
        // Time stands still, so that no deadline passes however busy the machine is.
        network = NetworkLayer(
            transport: transport, pipeline: pipeline, clock: LayerClock(ManualClock()), sinks: [records],
            limits: LayerLimits(admission: admission, retrying: .none))
    }

    func outcome(of flight: FlightID, among count: Int) async throws -> FlightOutcome? {
        try await records.records(count: count).first { $0.id == flight }?.outcome
    }
}

extension AdmissionLimits {
    /// One call at a time, and a circuit that opens after one failure.
    static let oneSlot = AdmissionLimits(
        maximumFlights: 1, circuitBreaker: CircuitLimits(consecutiveFailures: 1))
}
