import Synchronization

/// A concurrency slot that is held by the stream of a response body.
final class ConcurrencySlot: Sendable {
    private let control: AdmissionControl
    private let isHeld = Atomic(true)

    init(_ control: AdmissionControl) { self.control = control }

    deinit { release() }

    /// Releases the slot. A second call does nothing.
    func release() {
        if isHeld.exchange(false, ordering: .relaxed) { control.leave() }
    }
}

extension BodyStream {
    /// Returns a copy of the stream that releases a concurrency slot when it ends, fails or is discarded.
    func holding(_ slot: ConcurrencySlot) -> BodyStream {
        BodyStream {
            var iterator = makeAsyncIterator()
            return {
                do {
                    let part = try await iterator.next()
                    if part == nil { slot.release() }
                    return part
                } catch {
                    slot.release()
                    throw error
                }
            }
        }
    }
}
