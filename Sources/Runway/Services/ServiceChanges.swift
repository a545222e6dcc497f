import Synchronization

/// Notifies parts that the layer does not know, such as an action log, of sign-ins, sign-outs and changes of settings.
final class ServiceChanges: Sendable {
    private struct State {
        var readers: [UInt64: AsyncStream<Void>.Continuation] = [:]
        var count: UInt64 = 0
    }

    /// Guards the sequences that receive the changes.
    private let state = Mutex(State())

    deinit {
        for reader in state.withLock({ Array($0.readers.values) }) { reader.finish() }
    }

    /// Returns a sequence with an element for each change. Changes in quick succession may share one element. The
    /// sequence ends when the layer is released or the reading task is cancelled.
    func changes() -> AsyncStream<Void> {
        let (changes, reader) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.count += 1
            state.readers[state.count] = reader
            return state.count
        }
        reader.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.readers.removeValue(forKey: number) }
        }
        return changes
    }

    func report() {
        for reader in state.withLock({ Array($0.readers.values) }) { reader.yield() }
    }
}
