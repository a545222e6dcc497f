import Foundation
import HTTPTypes
import RunwayTesting
import Synchronization

@testable import Runway

/// A server of one film whose first response waits at a gate after 400,000 bytes, and what a test needs to download it.
@MainActor
final class FilmArchive {
    let bytes = [UInt8].random(700_000, seed: 5)
    let folder: TestFolder
    let gate = ScriptedGate()
    let recorder = LandingRecorder()
    let records = RecordCollector()
    let transport: StubTransport
    let network: NetworkLayer

    /// - Parameter failures: How many requests find no network, before the first response.
    init(failures: Int = 0) throws {
        folder = try TestFolder()
        let count = Mutex(0)
        transport = StubTransport { [bytes, gate] request throws(NetworkError) in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number <= failures { throw NetworkError(.noNetwork, in: .transporting, "No network.") }
            return Self.response(to: request, with: bytes, holdingAt: number == failures + 1 ? gate : nil)
        }
        network = NetworkLayer(
            transport: transport, pipeline: .tested, sinks: [records],
            limits: LayerLimits(admission: .none, retrying: .none))
    }

    private nonisolated static func response(
        to request: Request, with bytes: [UInt8], holdingAt gate: ScriptedGate?
    ) -> Response {
        let start = request.head.headerFields[.range].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
        var head = HTTPResponse(status: start > 0 ? .partialContent : .ok)
        head.headerFields[.eTag] = "\"1\""
        head.headerFields[.contentLength] = "\(bytes.count - start)"
        if start > 0 { head.headerFields[.contentRange] = "bytes \(start)-\(bytes.count - 1)/\(bytes.count)" }
        let body = BodyStream {
            var offset = start
            return {
                if offset == 400_000, let gate { try await gate.pass() }
                defer { offset += 100_000 }
                return offset < bytes.count ? Array(bytes[offset..<min(bytes.count, offset + 100_000)]) : nil
            }
        }
        return Response(head: head, body: .stream(body))
    }

    func manager(overlap: OverlapPolicy? = nil) -> DownloadManager<Film> {
        DownloadManager(on: network, to: { [folder] _ in folder.file() }, delegate: recorder, overlap: overlap)
    }
}
