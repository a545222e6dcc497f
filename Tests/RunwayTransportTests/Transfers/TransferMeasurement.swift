import Foundation
import HTTPTypes
import Runway
import RunwayTesting
import RunwayTransport
import Testing

/// One transfer of any size, for `Scripts/transfer.sh`, which ends the process in the middle and starts it again.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["RUNWAY_TRANSFER"] != nil))
struct TransferMeasurement {
    private struct Upload: Endpoint {
        static let service = TestService.self
        static let method = HTTPRequest.Method.put
        static let encoding = ParameterEncoding.raw(contentType: "application/octet-stream")
        @Unencoded var file: URL
        @Unencoded var name: String
        var path: EndpointPath { "\(name)" }
        var content: RequestBody { get throws { try .file(file) } }
    }

    @Test func transfer() async throws {
        let environment = ProcessInfo.processInfo.environment
        let url = try #require(environment["RUNWAY_TRANSFER_URL"].flatMap(URL.init(string:)))
        let file = URL(fileURLWithPath: try #require(environment["RUNWAY_TRANSFER_FILE"]))
        let records = RecordCollector()
        let network = NetworkLayer(
            transport: try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300))),
            sinks: [records])
        network.configure(TestService.self) {
            $0.baseURLs = [.release: url.deletingLastPathComponent().absoluteString]
            $0.deadline = .seconds(60)
        }
        let (name, start, before) = (url.lastPathComponent, ContinuousClock.now, Self.peakKilobytes)
        if environment["RUNWAY_TRANSFER"] == "upload" {
            _ = try await network.upload(Upload(file: file, name: name))
            let requestCount = try await records.records(count: 1).first?.attempts.count ?? 0
            print("uploaded with \(requestCount) requests", terminator: " ")
        } else {
            let saved = try await network.download(Fetch<GET>("\(name)"), to: file)
            print(
                "downloaded \(saved.byteCount) bytes, \(saved.resumedByteCount) of them resumed,", terminator: " ")
        }
        print("in \(ContinuousClock.now - start), peak memory \(Self.peakKilobytes) KiB, \(before) KiB before")
    }

    /// The peak memory of the process so far; 0 if the system does not report it.
    private static var peakKilobytes: Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
    }
}
