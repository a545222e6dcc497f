import Foundation
import HTTPTypes
import Runway
import RunwayTUF
import Synchronization

/// Brings all files of one version to the disk: those that no installed bundle has are copied from the embedded copy,
/// and the others downloaded.
struct Installation: Sendable {
    /// The number of files that are downloaded at the same time.
    private static let concurrentDownloads = 6

    let folder: BundleFolder
    let embedded: EmbeddedBundle
    /// The files of the repository.
    let files: RepositoryNetwork
    let manifest: BundleManifest

    /// Copies from the embedded copy what it has, and returns what has to be downloaded: one file for each digest.
    func prepare() throws -> [BundleManifest.File] {
        var wanted: [String: BundleManifest.File] = [:]
        for file in manifest.files where wanted[file.sha256] == nil && !folder.has(file) {
            // A download may have ended without the process that would have moved the file.
            let isWaiting = FileManager.default.fileExists(atPath: folder.incoming(file.sha256).path)
            if try !isWaiting || !folder.accept(file) { wanted[file.sha256] = file }
        }
        try Task.checkCancellation()
        for (digest, source) in wanted.isEmpty ? [:] : embedded.sources(of: wanted.values) {
            let draft = folder.incoming(digest)
            try? FileManager.default.removeItem(at: draft)
            do {
                // On Apple's file system a copy is a clone.
                try FileManager.default.copyItem(at: source, to: draft)
            } catch {
                throw BundleError(.storage, "The file \(source.path) can't be copied: \(error)")
            }
            if let file = wanted[digest], try folder.accept(file) { wanted[digest] = nil }
        }
        return wanted.values.sorted { $0.sha256 < $1.sha256 }
    }

    /// Downloads files, until they are all here or one of them fails.
    ///
    /// - Parameters:
    ///   - missing: The files.
    ///   - isAllowed: Returns whether a network may be used. The download ends when it may not.
    ///   - report: Receives the number of bytes that have arrived, of all files.
    func download(
        _ missing: [BundleManifest.File], while isAllowed: @escaping @Sendable (NetworkStatus) -> Bool,
        report: @escaping @Sendable (Int64) -> Void
    ) async throws {
        let progress = DownloadProgress(report)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await status in files.network.statuses where !isAllowed(status) { throw NetworkNotAllowed() }
                return false
            }
            defer { group.cancelAll() }
            var (rest, running) = (missing[...], 0)
            while true {
                while running < Self.concurrentDownloads, let file = rest.popFirst() {
                    running += 1
                    group.addTask {
                        try await download(file, progress)
                        return true
                    }
                }
                guard running > 0 else { return }
                if try await group.next() == true { running -= 1 }
            }
        }
    }

    private func download(_ file: BundleManifest.File, _ progress: DownloadProgress) async throws {
        let digest = file.sha256
        if file.length < RepositoryNetwork.resumedByteCount {
            guard let bytes = try await files.target(digest, upTo: Int(clamping: file.length)) else {
                throw absence(of: file)
            }
            guard bytes.count == file.length, Hexadecimal.sha256(bytes) == digest else { throw mismatch(of: file) }
            try folder.store(bytes, as: digest)
        } else {
            let draft = folder.incoming(digest)
            do {
                try await files.download(digest, to: draft, byteCount: file.length) { progress.set($0, of: digest) }
            } catch let error as NetworkError where [404, 410].contains(error.status?.code) {
                throw absence(of: file)
            }
            guard try folder.accept(file) else { throw mismatch(of: file) }
        }
        progress.set(file.length, of: digest)
    }

    private func absence(of file: BundleManifest.File) -> MetadataError {
        MetadataError(file.path, .absence, "5.7.3", "the repository has no file \(file.sha256)")
    }

    private func mismatch(of file: BundleManifest.File) -> MetadataError {
        MetadataError(file.path, .mixAndMatch, "5.7.3", "the manifest lists another length or hash")
    }
}

/// The device has a network that the policy does not allow.
struct NetworkNotAllowed: Error {}

/// The bytes of an installation that have arrived.
private final class DownloadProgress: Sendable {
    private let report: @Sendable (Int64) -> Void
    /// Guards the number of bytes of each file that have arrived, and their sum.
    private let state = Mutex<(files: [String: Int64], sum: Int64)>(([:], 0))

    init(_ report: @escaping @Sendable (Int64) -> Void) { self.report = report }

    func set(_ byteCount: Int64, of digest: String) {
        report(
            state.withLock { state in
                state.sum += byteCount - (state.files.updateValue(byteCount, forKey: digest) ?? 0)
                return state.sum
            })
    }
}
