import Crypto
import Foundation
import Runway
import RunwayTestServer
import RunwayTesting
import Testing

/// A large upload that is cut ten times, for `Scripts/resumable-upload.sh`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["RUNWAY_UPLOAD_FILE"] != nil))
struct UploadMeasurement {
    @Test func uploadIsCutTenTimes() async throws {
        let file = URL(fileURLWithPath: try #require(ProcessInfo.processInfo.environment["RUNWAY_UPLOAD_FILE"]))
        let byteCount = try #require(try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int)
        let folder = try UploadFolder()
        try await UploadApp.run(in: folder) { app in
            let bad = try await BadNetwork(to: app.port, addresses: 1)
            let layer = try UploadingLayer(host: bad.paths[0].address, port: bad.port)
            bad.paths[0].cut(atSentByteCounts: (1...10).map { byteCount / 11 * $0 })
            let start = ContinuousClock.now
            _ = try await layer.network.upload(FilmUpload(film: file))
            let duration = ContinuousClock.now - start
            let record = try #require(try await layer.records.records(count: 1).first)
            let written = record.writtenByteCount
            let handled = try #require(app.handled.first)
            #expect(app.handled.count == 1 && handled.byteCount == byteCount)
            #expect(record.resumptionCount == 10)
            // A cut loses what buffers hold, about a mebibyte, however large the file is.
            #expect(Double(written) <= Double(byteCount) * (byteCount < 1 << 30 ? 1.5 : 1.05))
            print(
                "uploaded \(byteCount) bytes in \(duration), \(record.resumptionCount) times resumed, \(written) bytes written,",
                "\(bad.paths[0].sentByteCount) passed the path, SHA-256 \(handled.digest)")
            await layer.shutDown()
            await bad.shutDown()
        }
    }
}
