import Foundation
import Runway

/// The films that the user saves. The system downloads them over Wi-Fi, also while the app is suspended or does not run.
@MainActor
final class FilmDownloads {
    /// Receives the share of a home's film that has come while the app runs, and what became of it.
    var onChange: ((_ home: String, _ text: String) -> Void)?
    /// Where the user finds the films.
    private let documents = URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent("Documents")
    private let network: NetworkLayer
    /// Retained until the process ends.
    private var transfers: BackgroundTransfers?
    /// What the system waits for, until the downloads are met again.
    private var completionHandlers: [() -> Void] = []

    init(on network: NetworkLayer) { self.network = network }

    /// Meets the downloads of earlier launches again. It fails as long as the device has not been unlocked since it started, so the app
    /// calls it at every launch and whenever it comes to the foreground. ``save(_:)`` throws the reason of a failure.
    func start() { _ = try? started() }

    /// Saves the film of a home.
    func save(_ id: Int) async throws(NetworkError) {
        let file = documents.appendingPathComponent("film-\(id).mp4")
        try await started().download(RentalFilm(id: id), to: file, id: "\(id)", on: .unmetered)
    }

    /// Takes what the system passes to the app's delegate. It is called when the ends were received, and not while they can't be.
    func handleEvents(_ completionHandler: @escaping () -> Void) {
        if let transfers = try? started() {
            transfers.handleEvents(completionHandler)
        } else {
            completionHandlers.append(completionHandler)
        }
    }

    private func started() throws(NetworkError) -> BackgroundTransfers {
        if let transfers { return transfers }
        // The app's own files, which the user does not see and no backup has.
        let folder = URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent(
            "Library/Application Support/FilmDownloads")
        // One task reads the reports in their order; a task for each could overtake another.
        let (reports, reporter) = AsyncStream<(home: String, text: String)>.makeStream()
        let made = try BackgroundTransfers(
            "com.example.listings.films", folder: folder, over: network,
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
        for completionHandler in completionHandlers { made.handleEvents(completionHandler) }
        completionHandlers = []
        return made
    }
}
