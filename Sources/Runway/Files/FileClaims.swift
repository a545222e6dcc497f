import Foundation
import Synchronization

/// Lets one download at a time write a file. One that follows a cancelled download waits until that has closed the file; any other
/// fails.
final class FileClaims: Sendable {
    private struct Claim {
        let number: UInt64
        /// Whether the task of the download was cancelled, so that the download is about to end.
        var isCancelled: Bool
        /// The downloads that wait for its end.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private struct State {
        var claims: [String: Claim] = [:]
        var count: UInt64 = 0
    }

    private enum Attempt {
        case claimed
        case mustWait
        case refused
    }

    /// Guards the files that downloads write, by their paths.
    private let state = Mutex(State())

    /// Runs a download that alone writes the file.
    ///
    /// - Throws: ``NetworkError/Kind/storage`` if another download that was not cancelled writes it; otherwise what `download` throws.
    func run<Value>(
        to file: URL, _ download: () async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        let path = file.standardizedFileURL.path
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        let result: Result<Value, NetworkError> = await withTaskCancellationHandler {
            do throws(NetworkError) {
                try await claim(path, number)
                defer { release(path) }
                return .success(try await download())
            } catch {
                return .failure(error)
            }
        } onCancel: {
            state.withLock { state in
                if state.claims[path]?.number == number { state.claims[path]?.isCancelled = true }
            }
        }
        return try result.get()
    }

    private func claim(_ path: String, _ number: UInt64) async throws(NetworkError) {
        while true {
            switch attempt(path, number) {
            case .claimed: return
            case .mustWait: await waitForEnd(path)
            case .refused:
                let reason = "another download to the same file is in progress"
                throw NetworkError(FileError(path, "can't be used", reason: reason), in: .saving)
            }
        }
    }

    private func attempt(_ path: String, _ number: UInt64) -> Attempt {
        state.withLock { state in
            if let claim = state.claims[path] { return claim.isCancelled ? .mustWait : .refused }
            // A task that is cancelled from now on changes the claim, since it has to wait for the lock.
            state.claims[path] = Claim(number: number, isCancelled: Task.isCancelled)
            return .claimed
        }
    }

    /// Waits until a file that is being written no longer is.
    private func waitForEnd(_ path: String) async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.claims[path] == nil { return true }
                state.claims[path]?.waiters.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func release(_ path: String) {
        let waiters = state.withLock { $0.claims.removeValue(forKey: path)?.waiters ?? [] }
        for waiter in waiters { waiter.resume() }
    }
}
