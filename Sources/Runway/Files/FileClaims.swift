import Foundation
import Synchronization

/// Ensures that only one transfer of a layer uses a file at a time. If the current transfer was cancelled, the next one
/// waits until the file is closed. Otherwise a second download fails, and a second upload continues without the file.
final class FileClaims: Sendable {
    private struct Claim {
        let number: UInt64
        /// Whether the task of the transfer was cancelled, so that the transfer will end soon.
        var isCancelled: Bool
        /// The transfers that wait for this transfer to end.
        var waiters: [UInt64: CheckedContinuation<WaitEnd, Never>] = [:]
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

    /// Guards the files that transfers are using, by path.
    private let state = Mutex(State())

    /// Runs a download while no other transfer writes the file.
    ///
    /// - Throws: ``NetworkError/Kind/storage`` if another download writes the file and was not cancelled;
    ///   ``NetworkError/Kind/cancelled`` or ``NetworkError/Kind/timedOut`` if the call ends while it waits; otherwise
    ///   the errors of `download`.
    func run<Value>(
        to file: URL, in flight: Flight, _ download: () async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        let path = file.standardizedFileURL.path
        let number = nextNumber()
        let result: Result<Value, NetworkError> = await withTaskCancellationHandler {
            do throws(NetworkError) {
                try await claim(path, number, in: flight)
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

    /// Reserves a file for one transfer until ``release(_:)``, without waiting. Returns `false` if another transfer has
    /// reserved the file.
    func claim(_ path: String) -> Bool {
        state.withLock { state in
            guard state.claims[path] == nil else { return false }
            state.count += 1
            state.claims[path] = Claim(number: state.count, isCancelled: false)
            return true
        }
    }

    /// Records that the transfer that uses the file was cancelled. The transfer must call this before ``release(_:)``.
    func cancel(_ path: String) { state.withLock { $0.claims[path]?.isCancelled = true } }

    /// Waits while a cancelled transfer uses a file.
    ///
    /// - Throws: ``NetworkError/Kind/cancelled`` or ``NetworkError/Kind/timedOut`` if the call ends while it waits.
    func waitForCancelled(_ path: String, in flight: Flight) async throws(NetworkError) {
        let number = nextNumber()
        while state.withLock({ $0.claims[path]?.isCancelled ?? false }) {
            try await waitForEnd(path, number, in: flight)
        }
    }

    private func nextNumber() -> UInt64 {
        state.withLock { state in
            state.count += 1
            return state.count
        }
    }

    private func claim(_ path: String, _ number: UInt64, in flight: Flight) async throws(NetworkError) {
        while true {
            switch attempt(path, number) {
            case .claimed: return
            case .mustWait: try await waitForEnd(path, number, in: flight)
            case .refused:
                let reason = "another download to the same file is in progress"
                throw NetworkError(FileError(path, "can't be used", reason: reason), in: .saving)
            }
        }
    }

    private func attempt(_ path: String, _ number: UInt64) -> Attempt {
        state.withLock { state in
            if let claim = state.claims[path] { return claim.isCancelled ? .mustWait : .refused }
            // If the task is cancelled from now on, its cancellation handler waits for the lock and then marks this
            // transfer as cancelled.
            state.claims[path] = Claim(number: number, isCancelled: Task.isCancelled)
            return .claimed
        }
    }

    /// Waits until no transfer uses the file.
    private func waitForEnd(_ path: String, _ number: UInt64, in flight: Flight) async throws(NetworkError) {
        let end = await flight.wait { continuation in
            state.withLock { state in
                // Another transfer may have reserved the file in the meantime. The caller does not wait for that
                // transfer.
                guard state.claims[path]?.isCancelled == true else { return .granted }
                state.claims[path]?.waiters[number] = continuation
                return nil
            }
        } leave: { [self] end in
            state.withLock { $0.claims[path]?.waiters.removeValue(forKey: number) }?.resume(returning: end)
        }
        if Task.isCancelled || end == .cancelled {
            throw NetworkError(.cancelled, in: .saving, "The call was cancelled.", sending: .notSent)
        }
        guard end == .granted else {
            let reason = "The deadline passed before a cancelled transfer had closed the same file."
            throw flight.timeout(reason, in: .saving, sending: .notSent)
        }
    }

    /// Ends the use of the file, so that another transfer can reserve it.
    func release(_ path: String) {
        let waiters = state.withLock { $0.claims.removeValue(forKey: path)?.waiters ?? [:] }
        for waiter in waiters.values { waiter.resume(returning: .granted) }
    }
}
