import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// A read of which a test makes many equal ones.
struct Shelf: Endpoint {
    static let service = Library.self
    var path: EndpointPath { "shelf/\(number)" }
    @Unencoded var number = 1
    @Unencoded var fields: [String: String] = [:]
    var headers: [String: String] { fields }
}

/// A layer over a carrying transport, whose clock a test drives.
struct ReadingRoom {
    let transport: CarryingTransport
    let records = RecordCollector()
    let clock = ManualClock()
    let network: NetworkLayer

    init(listens: Bool = true, limits: CacheLimits = CacheLimits(), pipeline: RequestPipeline = .tested) {
        transport = CarryingTransport(listens: listens)
        network = NetworkLayer(
            transport: transport, pipeline: pipeline, clock: LayerClock(clock), sinks: [records],
            limits: LayerLimits(cache: limits, admission: .none, retrying: .none))
    }

    /// Starts a call.
    func call<E: Endpoint>(_ endpoint: E, _ options: CallOptions = .standard) -> Task<RawData, any Error> {
        Task { [network] in try await network.call(endpoint, options: options) }
    }

    /// Starts a call that begins a read, and waits until its request is on the wire.
    func begin<E: Endpoint>(_ endpoint: E, as number: UInt64) async throws -> Task<RawData, any Error> {
        let task = call(endpoint)
        try await transport.waitForArrival(of: number)
        return task
    }

    /// Starts a call that joins a read, and waits until it has.
    func join<E: Endpoint>(_ endpoint: E, read: UInt64 = 1) async throws -> Task<RawData, any Error> {
        let count = network.reads.flights(waitingFor: read).count
        let task = call(endpoint)
        try await settle {
            let flights = network.reads.flights(waitingFor: read)
            return flights.count > count && flights.last?.hasJoined == true
        }
        return task
    }

    /// Waits until a condition holds that no event reports.
    func settle(fileID: String = #fileID, line: Int = #line, until condition: () -> Bool) async throws {
        try await waitUntil(fileID: fileID, line: line, condition)
    }

    /// The records of all calls, in the order of their numbers.
    func records(count: Int) async throws -> [FlightRecord] {
        try await records.records(count: count).sorted { $0.id < $1.id }
    }
}

extension Task where Success == RawData, Failure == any Error {
    /// The number in the response.
    var number: UInt64? { get async throws { try await value["flight"].uint64 } }

    /// The error of the call.
    func failure(sourceLocation: SourceLocation = #_sourceLocation) async throws -> NetworkError {
        try #require(
            await #expect(throws: NetworkError.self, sourceLocation: sourceLocation) { try await value },
            sourceLocation: sourceLocation)
    }
}

extension Flight {
    /// Whether the call shares the request of another one, and has done all that joining it takes.
    var hasJoined: Bool { recorder.hasNoted { $0 is SharingDecision } }
}
