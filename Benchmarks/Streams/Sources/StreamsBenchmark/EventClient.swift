import Foundation
import Runway
import RunwayStreams
import RunwayTransport

enum BenchmarkService: APIService {
    static let name = "benchmark"
    static let environments: [ServiceEnvironment: String] = [:]

    /// A layer with a transport of its own, and so with one connection to a server of HTTP/2.
    static func makeNetwork(folder: String, port: Int) throws -> NetworkLayer {
        let root = try String(contentsOfFile: "\(folder)/root.pem", encoding: .utf8)
        let transport = try NIOTransport(
            configuration: TransportConfiguration(trust: .certificates(pem: [root])))
        let network = NetworkLayer(transport: transport, limits: LayerLimits(admission: .none, retrying: .none))
        network.configure(BenchmarkService.self) { $0.baseURLs = [.release: "https://127.0.0.1:\(port)"] }
        return network
    }
}

struct TimedEvents: EventStreamEndpoint {
    static let service = BenchmarkService.self
    var path: EndpointPath { "events" }
}

/// An `EventStream` and its delegate, which notes when each event was received.
@MainActor
final class EventClient: EventStreamDelegate {
    private enum Report: Sendable {
        case connected
        case event(data: String, received: Int64)
        case ended
    }

    private let stream: EventStream<TimedEvents>
    private nonisolated let reports: AsyncStream<Report>
    private let report: AsyncStream<Report>.Continuation

    init(folder: String, port: Int) throws {
        stream = EventStream(TimedEvents(), on: try BenchmarkService.makeNetwork(folder: folder, port: port))
        (reports, report) = AsyncStream<Report>.makeStream()
        stream.delegate = self
    }

    /// Opens the stream, and waits until it is connected.
    func open() async throws {
        stream.start()
        guard case .connected = await nextReport() else {
            throw Failed("the stream did not open")
        }
    }

    /// Waits for an event; returns the nanoseconds from its publishing until the delegate received it.
    ///
    /// - Throws: ``Failed`` if the stream was interrupted, which has the next event wait for a reconnection.
    @concurrent nonisolated func next() async throws -> Int64 {
        guard case .event(let data, let received) = await nextReport() else {
            throw Failed("the stream was interrupted")
        }
        return try TimedData.nanoseconds(from: data, to: received)
    }

    @concurrent private nonisolated func nextReport() async -> Report? { await reports.first { _ in true } }

    func eventStream(_ stream: any EventStreaming, didReceive event: StreamEvent) {
        let received = monotonicNanoseconds()
        report.yield(.event(data: event.text, received: received))
    }

    func eventStream(_ stream: any EventStreaming, didConnect continuity: StreamContinuity) {
        report.yield(.connected)
    }

    func eventStream(_ stream: any EventStreaming, didEndWith error: NetworkError?) { report.yield(.ended) }
}
