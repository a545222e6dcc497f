import Foundation
import Runway
import RunwayStreams
import Synchronization

/// Delays the offline queue's changes for the client's account until the client's stream has certainly caught up. If no
/// account is signed in yet, the delay is for the first account that signs in.
///
/// The driver of the stream notifies this object directly, and not by way of the main actor. A link is suspected while
/// the device has no network, so that the delay has begun when the network returns.
final class ChatQueueDelay<Service: APIService>: Sendable {
    private struct State {
        /// Whether the client is started.
        var isBegun = false
        /// Reads the stream; `nil` while the client is not started, and before it has read the stored states. The
        /// driver is held weakly, since it holds the delay.
        weak var driver: StreamDriver?
        /// The number of changes of which the queue has not been notified.
        var pendingChanges = 0
    }

    private let account: StreamAccount
    private let network: NetworkLayer
    private let limit: Duration
    /// Identifies the client in the offline queue.
    private let owner = UUID()
    /// Guards the state. Account, stream and queue are asked and notified without it.
    private let state = Mutex(State())

    /// - Parameter limit: The longest time that changes wait, counted from the moment at which they could be sent.
    init(of account: StreamAccount, on network: NetworkLayer, upTo limit: Duration) {
        (self.account, self.network, self.limit) = (account, network, limit)
    }

    /// Begins the delay.
    func begin() { change { $0.isBegun = true } }

    /// Lets the delay end when these events have caught up.
    func follow(_ events: EventSequence) { change { $0.driver = events.driver } }

    /// Ends the delay.
    func end() {
        change { state in
            state.isBegun = false
            state.driver = nil
        }
    }

    /// Notifies the queue again: the stream has caught up, its state or the suspicion of its link has changed, or an
    /// account has signed in or out.
    func update() { change { _ in } }

    /// Changes the state, and notifies the queue. While one caller notifies the queue, it also passes on the changes of
    /// other callers, so that the newest state is notified last.
    private func change(_ change: (inout State) -> Void) {
        var pending = state.withLock { state -> State? in
            change(&state)
            state.pendingChanges += 1
            return state.pendingChanges == 1 ? state : nil
        }
        while let newest = pending {
            let isDue = newest.isBegun && account.isPresent && newest.driver?.isCertainlyCaughtUp != true
            network.delayChanges(of: Service.self, owner: owner, upTo: isDue ? limit : nil)
            pending = state.withLock { state -> State? in
                state.pendingChanges -= newest.pendingChanges
                return state.pendingChanges == 0 ? nil : state
            }
        }
    }
}
