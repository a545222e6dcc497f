import Foundation
import HTTPTypes
import Runway
import RunwayTesting

// The examples of transfers, streamed bodies and options of one call, line by line. They are compiled and not run.

private let network = NetworkLayer(transport: StubTransport { request in .json("{}") })
@MainActor private let bar = ProgressBar()

@MainActor private final class ProgressBar {
    var fraction = 0.0
}

private func show(_ error: any Error) {}
private func play(_ film: URL) {}
private func close() {}

struct RentalChanges: Endpoint {
    static let service = Listings.self
    var path: EndpointPath { "rental/changes" }
}

struct YearReport: Endpoint {
    static let service = Listings.self
    var path: EndpointPath { "reports/year" }
}

@MainActor final class FilmController: APIManagerDelegate {
    let folder = FileManager.default.temporaryDirectory
    lazy var films = DownloadManager<RentalFilm>(
        on: network, to: { [folder] in folder.appendingPathComponent("\($0.id).mp4") }, delegate: self)
    func watch(id: Int) { films.load(RentalFilm(id: id)) }
    func pause() { films.cancelAll() }
    func apiManager(_ manager: any APIManaging, didTransfer progress: TransferProgress, of flight: FlightID) {
        bar.fraction = progress.fraction ?? 0
    }
    func apiManagerDidSucceed(_ manager: any APIManaging) {
        if let film = manager.rawData?.file { play(film.url) }
    }
    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { show(error) }
}

@MainActor final class FilmUploadController: APIManagerDelegate {
    lazy var films = UploadManager<FilmUpload>(on: network, delegate: self)
    func publish(_ film: URL, id: Int) { films.load(FilmUpload(film: film, id: id)) }
    func apiManager(_ manager: any APIManaging, didTransfer progress: TransferProgress, of flight: FlightID) {
        bar.fraction = progress.fraction ?? 0
    }
    func apiManagerDidSucceed(_ manager: any APIManaging) { close() }
    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { show(error) }
}

func printChanges(from network: NetworkLayer) async throws {
    let changes = try await network.stream(RentalChanges())
    for try await line in changes.body.lines { print(line) }
}

func yearReport(from network: NetworkLayer) async throws -> RawData {
    let report = try await network.call(
        YearReport(), options: CallOptions(deadline: .seconds(300), headers: ["Accept": "text/csv"]))
    return report
}

@MainActor func printPages(of rentals: PagedAPIManager<Paged.RentalList>) async throws {
    typealias RentalList = Paged.RentalList
    rentals.load(RentalList(city: "上海"))
    while try await rentals.landingOfNextPage() != nil { print(rentals.newestItems.count) }
}
