import Foundation
import HTTPTypes
import Runway
import RunwayStorage

/// Measures what it costs a call of an endpoint with an offline policy that it is stored before it is sent.
enum ChangeBenchmark {
    private enum Shelf: APIService {
        static let name = "shelf"
        static let environments: [ServiceEnvironment: String] = [.release: "https://shelf.test"]
    }

    private struct Rename: Endpoint, Decodable {
        static let service = Shelf.self
        static let method = HTTPRequest.Method.put
        static let offline = OfflinePolicy.queued
        var path: EndpointPath { "books/\(id)" }
        @Unencoded var id: Int
        var title: String
    }

    /// Responds after a while.
    private struct Server: Transport {
        let latency: Duration

        func endsInTime(_ request: Request) -> Bool { true }
        func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
            if latency > .zero { try? await Task.sleep(for: latency) }
            return Response(
                head: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
                body: .whole(RawData(Array("{}".utf8))))
        }
    }

    /// A queue that stores a call only after it has failed.
    private struct LateQueue: ChangeQueue {
        let base: OfflineQueue

        func start(for network: NetworkLayer) { base.start(for: network) }
        func accepts(_ endpoint: any Endpoint.Type) -> Bool { base.accepts(endpoint) }
        func hasToWait(_ change: UnsentChange) async throws -> Bool { try await base.hasToWait(change) }
        func store(_ change: UnsentChange) async throws -> QueuedChange { try await base.store(change) }
        func settle(_ change: UUID, isQueued: Bool) async { await base.settle(change, isQueued: isQueued) }
        func servicesDidChange() { base.servicesDidChange() }
    }

    static func run(in folder: URL) async throws {
        for latency in [Duration.zero, .milliseconds(20)] {
            for survivesPowerLoss in [true, false] {
                try await run(in: folder, survivesPowerLoss, Server(latency: latency))
            }
        }
    }

    private static func run(in folder: URL, _ survivesPowerLoss: Bool, _ server: Server) async throws {
        let title = String(repeating: "x", count: 1000)
        var options = OfflineQueueOptions()
        options.survivesPowerLoss = survivesPowerLoss
        func queue(_ name: String) -> OfflineQueue {
            OfflineQueue(
                at: folder.appending(path: "\(name)-\(survivesPowerLoss)-\(server.latency)/changes.sqlite"),
                replaying: [ReplayedEndpoint(Rename.self)], options: options)
        }
        let (ahead, late) = (queue("ahead"), queue("late"))
        let layers = [
            NetworkLayer(transport: server, offlineQueue: LateQueue(base: late)),
            NetworkLayer(transport: server, offlineQueue: ahead),
        ]
        let clock = ContinuousClock()
        var times: [[Duration]] = [[], []]
        for round in 0..<20 {
            for (index, network) in layers.enumerated() {
                for number in 0..<25 {
                    let rename = Rename(id: round * 25 + number, title: title)
                    times[index].append(try await clock.measure { _ = try await network.call(rename) })
                }
                // The removal of the last call is not part of what follows.
                await ahead.flush()
            }
        }
        print(
            "network.call of 1 KB, response after \(server.latency), \(survivesPowerLoss ? "flushed" : "not flushed")")
        let without = Times.report("not stored", times[0])
        let with = Times.report("stored ahead", times[1])
        print("stored ahead: \(with / without) times the call, \((with - without) / .milliseconds(1)) ms more")
        await ahead.close()
        await late.close()
    }
}
