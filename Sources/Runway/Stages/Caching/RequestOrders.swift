import Synchronization

/// Numbers the requests that leave a layer, and the operations that put what is kept out of date, in one row.
///
/// Of two requests the one with the larger number left later; an answer whose request has a smaller number than an
/// operation is of before it.
final class RequestOrders: Sendable {
    private let count = Atomic<UInt64>(0)

    /// The number that was given last.
    var last: UInt64 { count.load(ordering: .relaxed) }

    /// The next number, counted from 1.
    func draw() -> UInt64 { count.wrappingAdd(1, ordering: .relaxed).newValue }
}
