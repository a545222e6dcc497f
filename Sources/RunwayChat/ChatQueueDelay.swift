import Foundation
import Runway
import RunwayStreams
import Synchronization

/// Delays the offline queue's calls for one account as long as the client's stream may have missed events.
///
/// If no account is signed in yet, the delay applies to the first account that signs in. The driver of the stream
/// notifies this object directly, since a notification over the main actor would arrive too late. The driver assumes a
/// broken connection while the device has no network, so the delay has begun by the time the network returns.
final class ChatQueueDelay<Service: APIService>: Sendable {
    private struct State {
        var isBegun = false
        /// The driver of the stream; `nil` until the client has started and read its stored states. Held weakly, since
        /// the driver holds this object.
        weak var driver: StreamDriver?
        /// The number of changes of this state that have not been passed to the queue yet.
        var pendingChanges = 0
    }

    private let account: StreamAccount
    private let network: NetworkLayer
    private let limit: Duration
    /// Identifies the client in the offline queue.
    private let owner = UUID()
    /// Guards the state. The account, stream and queue are called without the lock.
    private let state = Mutex(State())

    /// - Parameter limit: The maximum delay of a call, counted from the moment at which it could be sent.
    init(of account: StreamAccount, on network: NetworkLayer, upTo limit: Duration) {
        (self.account, self.network, self.limit) = (account, network, limit)
    }

    func begin() { change { $0.isBegun = true } }

    /// Sets the event sequence. The delay ends when this sequence has caught up.
    func follow(_ events: EventSequence) { change { $0.driver = events.driver } }

    func end() {
        change { state in
            state.isBegun = false
            state.driver = nil
        }
    }

    /// Notifies the queue that the stream or its connection changed, or that an account signed in or out.
    func update() { change { _ in } }

    /// Changes the state, and notifies the queue. A caller that is notifying the queue also passes on the changes of
    /// other callers, so the queue receives the newest state last.
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
