import Foundation
import Runway

/// The films that the user saves. The system downloads them over Wi-Fi, also while the app is suspended or does not run.
@MainActor
final class FilmDownloads {
    /// Receives the share of a home's film that has come while the app runs, and what became of it.
    var onChange: ((_ home: String, _ text: String) -> Void)?
    private let folder = URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent("Documents")
    private let network: NetworkLayer
    /// Kept for the life of the process.
    private var transfers: BackgroundTransfers?

    init(on network: NetworkLayer) { self.network = network }

    /// Meets the downloads of earlier launches again. The app calls it at every launch. If that fails, ``save(_:)`` throws the reason.
    func start() { _ = try? started() }

    /// Saves the film of a home.
    func save(_ id: Int) async throws(NetworkError) {
        let file = folder.appendingPathComponent("film-\(id).mp4")
        try await started().download(RentalFilm(id: id), to: file, id: "\(id)", on: .unmetered)
    }

    /// Takes what the system passes to the app's delegate.
    func handleEvents(_ completionHandler: @escaping () -> Void) {
        do throws(NetworkError) { try started().handleEvents(completionHandler) } catch { completionHandler() }
    }

    private func started() throws(NetworkError) -> BackgroundTransfers {
        if let transfers { return transfers }
        // One task reads the reports in their order; a task for each could overtake another.
        let (reports, reporter) = AsyncStream<(home: String, text: String)>.makeStream()
        let made = try BackgroundTransfers(
            "com.example.listings.films", folder: folder.appendingPathComponent("Transfers"), over: network,
            onProgress: { id, progress in
                reporter.yield((id, "\(Int((progress.fraction ?? 0) * 100)) % saved"))
            },
            receive: { transfer in
                reporter.yield((transfer.id, transfer.error?.detail ?? "Saved"))
            })
        Task { [weak self] in
            for await report in reports { self?.onChange?(report.home, report.text) }
        }
        transfers = made
        return made
    }
}
