import Foundation
import Runway
import RunwayJSON
import UIKit

/// One home, and a film of it to send or to save. The same controller is the delegate of both managers.
final class RentalController: UIViewController, APIManagerDelegate {
    /// Where the app has recorded a film, and taken a picture.
    private static let film = FileManager.default.temporaryDirectory.appendingPathComponent("film.mp4")
    private static let picture = FileManager.default.temporaryDirectory.appendingPathComponent("picture.jpg")
    private let row: RentalRow
    private let network: NetworkLayer
    private let saved: FilmDownloads
    private let favourites: Task<FavouriteCenter, any Error>
    private lazy var details = APIManager<RentalDetails>(on: network, delegate: self)
    private lazy var films = UploadManager<FilmUpload>(on: network, delegate: self)
    private let text = UILabel()
    private let bar = UIProgressView(progressViewStyle: .default)

    // MARK: Life cycle

    init(
        _ row: RentalRow, network: NetworkLayer, films: FilmDownloads, favourites: Task<FavouriteCenter, any Error>
    ) {
        (self.row, self.favourites) = (row, favourites)
        self.network = network
        saved = films
        super.init(nibName: nil, bundle: nil)
    }

    required init?(coder: NSCoder) { nil }

    override func viewDidLoad() {
        super.viewDidLoad()
        title = row.title
        layOut()
        saved.onChange = { [weak self, row] home, text in if home == "\(row.id)" { self?.text.text = text } }
        details.load(RentalDetails(id: row.id))
    }

    // MARK: Layout

    private func layOut() {
        text.numberOfLines = 0
        navigationItem.rightBarButtonItem = UIBarButtonItem(
            title: "Remember", primaryAction: UIAction { [weak self] _ in self?.remember() })
        let stack = UIStackView(arrangedSubviews: [
            text, bar, button("Send the film") { $0.send() }, button("Save the film") { $0.save() },
        ])
        stack.axis = .vertical
        stack.translatesAutoresizingMaskIntoConstraints = false
        view.addSubview(stack)
        NSLayoutConstraint.activate([
            stack.topAnchor.constraint(equalTo: view.safeAreaLayoutGuide.topAnchor),
            stack.leadingAnchor.constraint(equalTo: view.safeAreaLayoutGuide.leadingAnchor),
            stack.trailingAnchor.constraint(equalTo: view.safeAreaLayoutGuide.trailingAnchor),
        ])
    }

    private func button(_ title: String, action: @escaping @MainActor (RentalController) -> Void) -> UIButton {
        UIButton(
            type: .system,
            primaryAction: UIAction(title: title) { [weak self] _ in if let self { action(self) } })
    }

    // MARK: Actions

    private func send() { films.load(FilmUpload(film: Self.film, id: row.id)) }

    private func remember() {
        Task { [favourites, row, text] in
            do {
                let home = SavedRental(id: row.id, title: row.title)
                try await favourites.value.add(home)
                if let picture = try? Data(contentsOf: Self.picture) {
                    try await favourites.value.add(picture, to: home)
                }
                text.text = "Saved"
            } catch { text.text = "\(error)" }
        }
    }

    private func save() {
        Task { [saved, row, text] in
            do throws(NetworkError) {
                try await saved.save(row.id)
                text.text = "Waiting for Wi-Fi"
            } catch {
                text.text = error.detail
            }
        }
    }

    // MARK: Landing

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
