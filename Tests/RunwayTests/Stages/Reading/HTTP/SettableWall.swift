import Foundation
import Synchronization

/// A wall clock that a test sets.
final class SettableWall: Sendable {
    /// Guards the date.
    private let now = Mutex(Date(timeIntervalSince1970: 1_767_225_600))

    var date: Date { now.withLock { $0 } }

    func move(by seconds: Double) { now.withLock { $0 += seconds } }
}
