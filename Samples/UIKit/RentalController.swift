import Foundation
import Runway
import RunwayJSON
import UIKit

/// One home, and a film of it to send. The same controller is the delegate of both managers.
final class RentalController: UIViewController, APIManagerDelegate {
    /// Where the app has recorded a film.
    private static let film = FileManager.default.temporaryDirectory.appendingPathComponent("film.mp4")
    private let row: RentalRow
    private let network: NetworkLayer
    private lazy var details = APIManager<RentalDetails>(on: network, delegate: self)
    private lazy var films = UploadManager<FilmUpload>(on: network, delegate: self)
    private let text = UILabel()
    private let bar = UIProgressView(progressViewStyle: .default)

    init(_ row: RentalRow, network: NetworkLayer) {
        self.row = row
        self.network = network
        super.init(nibName: nil, bundle: nil)
    }

    required init?(coder: NSCoder) { nil }

    override func viewDidLoad() {
        super.viewDidLoad()
        title = row.title
        text.numberOfLines = 0
        let send = UIButton(
            type: .system,
            primaryAction: UIAction(title: "Send the film") { [weak self] _ in
                guard let self else { return }
                films.load(FilmUpload(film: Self.film, id: row.id))
            })
        let stack = UIStackView(arrangedSubviews: [text, bar, send])
        stack.axis = .vertical
        stack.frame = view.bounds
        view.addSubview(stack)
        details.load(RentalDetails(id: row.id))
    }

    func apiManager(_ manager: any APIManaging, didTransfer progress: TransferProgress, of flight: FlightID) {
        bar.progress = Float(progress.fraction ?? 0)
    }

    func apiManagerDidSucceed(_ manager: any APIManaging) {
        if manager === films {
            text.text = "Sent"
        } else {
            do { text.text = try manager.fetch(RentReformer()) } catch { text.text = "The response can't be shown." }
        }
    }

    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { text.text = error.detail }
}

/// The lines that the screen of a home shows.
struct RentReformer: Reformer {
    func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> String {
        "\(rawData["address"].string ?? "")\n\(try rawData["rent"].require(Int.self)) a month"
    }
}
