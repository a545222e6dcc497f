import Foundation
import HTTPTypes
import Runway
import RunwayStorage

/// Measures what a write to the cache on disk costs the call whose response is stored.
enum CallerBenchmark {
    private enum Shelf: APIService {
        static let name = "shelf"
        static let environments: [ServiceEnvironment: String] = [.release: "https://shelf.test"]
    }

    private struct Book: Endpoint {
        static let service = Shelf.self
        var path: EndpointPath { "books" }
        var id: Int
    }

    /// Responds at once.
    private struct Server: Transport {
        let response: Response

        func endsInTime(_ request: Request) -> Bool { true }
        func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response { response }
    }

    static func run(in folder: URL) async throws {
        let bytes = Array("{\"text\":\"\(String(repeating: "x", count: 50_000))\"}".utf8)
        let response = Response(
            head: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
            body: .whole(RawData(bytes)))
        let network = NetworkLayer(transport: Server(response: response), diskCache: DiskCache(in: folder))
        let policies: [CachePolicy] = [.timeToLive(), .timeToLive(diskLifetime: .seconds(3600))]
        let clock = ContinuousClock()
        var times: [[Duration]] = [[], []]
        for round in 0..<40 {
            for (index, policy) in policies.enumerated() {
                for number in 0..<50 {
                    let book = Book(id: (round * 2 + index) * 50 + number)
                    times[index].append(
                        try await clock.measure {
                            _ = try await network.call(book, options: CallOptions(cache: policy))
                        })
                }
                // What is written in the background has its own time.
                await network.cache.flush()
            }
        }
        let memory = Times.report("network.call of 50 KB, stored in memory", times[0])
        let disk = Times.report("network.call of 50 KB, stored in memory and on disk", times[1])
        // A write is to cost its caller nothing, which two medians show within a few microseconds.
        Targets.expect("what the disk costs the caller", (disk - memory) / .microseconds(1), atMost: 5, "µs")
    }
}
