public import Foundation

/// Downloads the files of one endpoint for a controller. Notifies the controller, which is its delegate, of progress
/// and of the result.
///
/// ```swift
/// @MainActor final class FilmController: APIManagerDelegate {
///     let folder = FileManager.default.temporaryDirectory
///     lazy var films = DownloadManager<RentalFilm>(
///
///         on: network, to: { [folder] in folder.appendingPathComponent("\($0.id).mp4") }, delegate: self)
///     func watch(id: Int) { films.load(RentalFilm(id: id)) }
///     func pause() { films.cancelAll() }
///     func apiManager(_ manager: any APIManaging, didTransfer progress: TransferProgress, of flight: FlightID) {
///         bar.fraction = progress.fraction ?? 0
///     }
///
///     func apiManagerDidSucceed(_ manager: any APIManaging) {
///         if let film = manager.rawData?.file { play(film.url) }
///     }
///     func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { show(error) }
/// }
/// ```
///
/// It is an ``APIManager`` whose calls are downloads like those of
/// ``NetworkLayer/download(_:to:upTo:options:progress:)``. It has the interceptors, the validator, and the overlap
/// policy of any manager, and delivers results in the same way. The delivered response has the status and header
/// fields, and the file in ``RawData/file``; the validator checks this response.
/// ``APIManagerDelegate/apiManager(_:didTransfer:of:)`` notifies the delegate of progress.
///
/// If a download is cancelled, or if its manager is released, the received bytes stay next to the file. The next `load`
/// of the same call continues at that position, in this manager or in another manager of the layer. It first waits
/// until the cancelled download has closed the file.
public final class DownloadManager<E: Endpoint>: APIManager<E> {
    /// The progress of the transfer that is in flight or ended last; `nil` before the first transfer. SwiftUI views
    /// observe it.
    public var progress: TransferProgress? { reports.progress }

    private let fileOfCall: @MainActor (E) -> URL
    private let maximumByteCount: Int
    private let reports = TransferReports()

    /// Creates a manager for the downloads of one endpoint.
    ///
    /// - Parameters:
    ///   - network: The layer that sends the calls.
    ///   - destination: Returns the file that a call writes, after interceptors have changed the call. Its folder must
    ///     exist. Use a different file for different content: while one download writes a file, another download to the
    ///     same file fails as ``NetworkError/Kind/storage``. Called once for each call. A `load` to another file than
    ///     the download in flight does not join that download.
    ///   - maximumByteCount: The maximum size of the file. The default is 64 GiB, or `Int.max` if that is smaller.
    ///   - delegate: Notified of progress and of responses and errors; referenced weakly.
    ///   - overlap: The policy for a second call while the first is in flight. The default, `nil`, is the endpoint's
    ///     policy.
    public init(
        on network: NetworkLayer, to destination: @escaping @MainActor (E) -> URL,
        upTo maximumByteCount: Int = Int(clamping: Int64(64) << 30), delegate: (any APIManagerDelegate)? = nil,
        overlap: OverlapPolicy? = nil
    ) {
        fileOfCall = destination
        self.maximumByteCount = maximumByteCount
        super.init(on: network, delegate: delegate, overlap: overlap)
    }

    override func makeFlight(_ options: CallOptions) -> Flight {
        var options = options
        options.cache = .off
        return super.makeFlight(options)
    }

    override func destination(of endpoint: E) -> URL? { fileOfCall(endpoint) }

    override func transfer(of endpoint: E, to file: URL?, in flight: Flight) throws(NetworkError) -> Transfer? {
        guard let file else { preconditionFailure("a download has a destination") }
        try NetworkLayer.checkDestination(file)
        return transfer(in: flight, reports) { [network, maximumByteCount] request, report throws(NetworkError) in
            let saved = try await network.save(request, to: file, upTo: maximumByteCount, report, in: flight)
            return RawData(saved)
        }
    }
}
