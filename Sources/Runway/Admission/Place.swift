import Synchronization

/// A place in the air that is held by the stream of an answer.
final class Place: Sendable {
    private let control: AdmissionControl
    private let isHeld = Atomic(true)

    init(_ control: AdmissionControl) { self.control = control }

    deinit { giveBack() }

    /// Gives the place back, once.
    func giveBack() {
        if isHeld.exchange(false, ordering: .relaxed) { control.leave() }
    }
}

extension BodyStream {
    /// This stream, which gives a place in the air back when it ends, fails or is let go.
    func holding(_ place: Place) -> BodyStream {
        BodyStream {
            var iterator = makeAsyncIterator()
            return {
                do {
                    let part = try await iterator.next()
                    if part == nil { place.giveBack() }
                    return part
                } catch {
                    place.giveBack()
                    throw error
                }
            }
        }
    }
}
