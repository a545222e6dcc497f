import Foundation
import Runway

/// The films that the user saves. The system downloads them over Wi-Fi, also while the app is suspended or does not run.
@MainActor
final class FilmDownloads {
    /// Receives the share of a home's film that has come while the app runs, and what became of it.
    var onChange: ((_ home: String, _ text: String) -> Void)?
    private let folder = URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent("Documents")
    private var transfers: BackgroundTransfers?

    /// Meets the downloads of earlier launches again. The app makes it at every launch.
    init(on network: NetworkLayer) {
        transfers = try? BackgroundTransfers(
            "com.example.listings.films", folder: folder.appendingPathComponent("Transfers"), over: network,
            onProgress: { [weak self] id, progress in
                Task { await self?.report(id, "\(Int((progress.fraction ?? 0) * 100)) % saved") }
            },
            receive: { [weak self] transfer in
                await self?.report(transfer.id, transfer.error?.detail ?? "Saved")
            })
    }

    /// Saves the film of a home.
    func save(_ id: Int) async throws(NetworkError) {
        let file = folder.appendingPathComponent("film-\(id).mp4")
        try await transfers?.download(RentalFilm(id: id), to: file, id: "\(id)", on: .unmetered)
    }

    /// Takes what the system passes to the app's delegate.
    func handleEvents(_ completionHandler: @escaping () -> Void) { transfers?.handleEvents(completionHandler) }

    private func report(_ home: String, _ text: String) { onChange?(home, text) }
}
