import Foundation
import HTTPTypes
import RunwayTestServer
import RunwayTesting
import Synchronization

/// A file that a scripted origin serves with ranges, and whose connections break where a seed says.
final class RangedFile: Sendable {
    let bytes: [UInt8]
    /// Guards how many responses are still to break, and where.
    private let breaks: Mutex<(left: Int, random: SeededGenerator)>

    init(byteCount: Int, breaks: Int = 0, seed: UInt64 = 1) {
        var random = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        while bytes.count < byteCount { withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
        self.bytes = Array(bytes.prefix(byteCount))
        self.breaks = Mutex((breaks, random))
    }

    @Sendable func respond(_ request: ReceivedRequest) -> ScriptedResponse {
        var start = 0
        if let range = request["Range"], request["If-Range"] == "\"1\"" {
            start = Int(range.dropFirst(6).dropLast()) ?? 0
        }
        var response = ScriptedResponse(
            status: start > 0 ? .partialContent : .ok, headerFields: [.eTag: "\"1\"", .acceptRanges: "bytes"],
            chunks: stride(from: start, to: bytes.count, by: 30_000).map {
                Array(bytes[$0..<min(bytes.count, $0 + 30_000)])
            })
        if start > 0 {
            response = response.header(.contentRange, "bytes \(start)-\(bytes.count - 1)/\(bytes.count)")
        }
        let cut: (place: Int, ending: ScriptedResponse.Ending)? = breaks.withLock { breaks in
            guard breaks.left > 0 else { return nil }
            breaks.left -= 1
            let ending: ScriptedResponse.Ending = Bool.random(using: &breaks.random) ? .close : .reset
            return (Int.random(in: 0..<bytes.count - start, using: &breaks.random), ending)
        }
        return cut.map { response.cut(after: .bodyBytes($0.place), by: $0.ending) } ?? response
    }
}

/// A folder for one test, which goes with it.
final class TransferFolder: Sendable {
    let url: URL

    init() throws {
        url = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent("runway-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var file: URL { url.appendingPathComponent("file") }
    /// How much of a download is on the disk.
    var partByteCount: Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path + ".part")
        return attributes?[.size] as? Int ?? 0
    }

    var bytes: [UInt8]? { FileManager.default.contents(atPath: file.path).map(Array.init) }
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }
}
