import Foundation
import HTTPTypes
import Runway
import RunwayTesting
import RunwayTransport

/// The service of the tests of uploads; the layer says where it is.
enum FilmService: APIService {
    static let name = "films"
    static let environments: [ServiceEnvironment: String] = [:]
    static let deadline = Duration.seconds(600)
}

/// An upload that continues.
struct FilmUpload: Runway.Endpoint {
    static let service = FilmService.self
    static let method = HTTPRequest.Method.put
    static let encoding = ParameterEncoding.raw(contentType: "video/mp4")
    static let uploadResumption = UploadResumption.on
    static let retry = RetryPolicy(baseWait: .zero)
    @Unencoded var film: URL
    var path: EndpointPath { "films/7" }
    var content: RequestBody { get throws { try .file(film) } }
}

/// The same by a method that must not be sent twice, in the words of the newest draft.
struct NewFilmUpload: Runway.Endpoint {
    static let service = FilmService.self
    static let method = HTTPRequest.Method.post
    static let encoding = ParameterEncoding.raw(contentType: "video/mp4")
    static let uploadResumption = UploadResumption(interopVersion: 8)
    static let retry = RetryPolicy(baseWait: .zero)
    @Unencoded var film: URL
    var path: EndpointPath { "films/7" }
    var content: RequestBody { get throws { try .file(film) } }
}

/// A layer whose calls go to an address, and its records.
struct UploadingLayer: Sendable {
    let network: NetworkLayer
    let port: Int
    let records = RecordCollector()
    private let transport: NIOTransport

    init(host: String = "127.0.0.1", port: Int) throws {
        self.port = port
        transport = try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300)))
        network = NetworkLayer(
            transport: transport, sinks: [records], limits: LayerLimits(retrying: .retrying))
        network.configure(FilmService.self) { $0.baseURLs = [.release: "http://\(host):\(port)"] }
    }

    func shutDown() async { await transport.shutdown(waitingAtMost: .zero) }
}

extension FlightRecord {
    /// How often the server was asked how much of an upload it has, and the rest was sent.
    var resumptionCount: Int {
        decisions(of: UploadDecision.self).count { if case .resuming = $0 { true } else { false } }
    }
    /// How many bytes the requests of the call passed to their connections, heads and framing included.
    var writtenByteCount: Int { attempts.reduce(0) { $0 + ($1.wire?.sentByteCount ?? 0) } }
}
