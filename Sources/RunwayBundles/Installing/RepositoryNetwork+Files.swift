import Foundation
import Runway
import RunwayTUF

extension RepositoryNetwork {
    /// The length in bytes from which a file is downloaded in a way that can be resumed. A shorter one is requested
    /// again as a whole, which costs less than its records of progress would.
    static let resumedByteCount: Int64 = 256 << 10

    /// Downloads a file, or the rest of it, to a place on the disk.
    ///
    /// - Parameters:
    ///   - name: The name of the file, one segment of the path.
    ///   - file: The place of the file, and beside it of its part.
    ///   - byteCount: The length of the file. A longer response is refused.
    ///   - progress: Receives the number of bytes that are here.
    func download(
        _ name: String, to file: URL, byteCount: Int64, progress: @escaping @Sendable (Int64) -> Void
    ) async throws {
        // A server that sends byte by byte is slower than any network.
        let limit = Duration.seconds(60) + .seconds(byteCount / 4_096)
        _ = try await network.download(
            FileDownload(path: "\(path)\(name)"), to: file, upTo: Int(clamping: byteCount),
            options: CallOptions(wholeDeadline: limit)
        ) { progress(Int64($0.completedByteCount)) }
    }

    /// Configures the service of ``download(_:to:byteCount:progress:)``.
    func prepareDownloads() {
        let url = "\(scheme)://\(authority)"
        network.configure(FileService.self) { $0.baseURLs[FileService.initialEnvironment] = url }
    }

    /// Returns the endpoint of a file, for a session that downloads while the app is suspended.
    func endpoint(of name: String) -> some Endpoint { FileDownload(path: "\(path)\(name)") }
}

/// The service of large files of bundles. All repositories of a layer have one host.
private enum FileService: APIService {
    static let name = "bundle-files"
    static let environments: [ServiceEnvironment: String] = [:]
    /// The digest of each file is signed.
    static let allowsPlainHTTP = true
}

private struct FileDownload: Endpoint {
    static let service = FileService.self
    static let name = "BundleFile"
    static let cache = CachePolicy.off
    static let hedging = HedgingPolicy.off
    static let authorization = AuthorizationPolicy.none
    static let isMergeable = false
    static let coalesces = false

    let path: EndpointPath

    init(path: String) { self.path = EndpointPath(stringLiteral: path) }

    var parameters: Parameters { [:] }
    func encode(to encoder: any Encoder) {}
}
