import struct Foundation.URL

/// Makes calls for a controller whose bodies take long to send. Notifies the controller, which is its delegate, of
/// progress and of the result.
///
/// ```swift
/// @MainActor final class FilmUploadController: APIManagerDelegate {
///     lazy var films = UploadManager<FilmUpload>(on: network, delegate: self)
///     func publish(_ film: URL, id: Int) { films.load(FilmUpload(film: film, id: id)) }
///
///     func apiManager(_ manager: any APIManaging, didTransfer progress: TransferProgress, of flight: FlightID) {
///         bar.fraction = progress.fraction ?? 0
///     }
///     func apiManagerDidSucceed(_ manager: any APIManaging) { close() }
///     func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { show(error) }
/// }
/// ```
///
/// It is an ``APIManager`` whose calls are uploads like those of ``NetworkLayer/upload(_:options:progress:)``. Their
/// deadline limits the time without a byte, and ``APIManagerDelegate/apiManager(_:didTransfer:of:)`` notifies the
/// delegate of progress. Hooks, overlap and the delivery of results are the same as in any manager.
///
/// Under ``OverlapPolicy/joinOrReplace`` a call with the same, unchanged file joins the call in flight. A call with the
/// files of a form (``FormPart``) replaces the call in flight. An upload that was cancelled is sent again from its
/// start, or continues if the endpoint allows it (``Endpoint/uploadResumption``).
public final class UploadManager<E: Endpoint>: APIManager<E> {
    /// The progress of the transfer that is in flight or ended last; `nil` before the first transfer. SwiftUI views
    /// observe it.
    public var progress: TransferProgress? { reports.progress }

    private let reports = TransferReports()

    override func transfer(of endpoint: E, to file: URL?, in flight: Flight) throws(NetworkError) -> Transfer? {
        transfer(in: flight, reports) { [network] request, report throws(NetworkError) in
            try await network.sendCounted(request, for: endpoint, report, in: flight)
        }
    }
}
