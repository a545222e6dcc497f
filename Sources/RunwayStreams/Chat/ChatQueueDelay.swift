import Foundation
import Runway
import Synchronization

/// Delays the offline queue's changes for the client's account until the client's stream has certainly caught up. If nobody is signed in
/// yet, the delay is for the first account that signs in.
///
/// The driver of the stream notifies it directly, and not by way of the main actor. A link is suspected while the device has no network,
/// so that the delay has begun when the network returns.
final class ChatQueueDelay<Service: APIService>: Sendable {
    private struct State {
        /// Whether the client is started.
        var isBegun = false
        /// The events of the stream; `nil` while the client is not started, and before it has read what is stored.
        var events: EventSequence?
    }

    private let account: StreamAccount
    private let network: NetworkLayer
    private let limit: Duration
    /// Identifies the client in the offline queue.
    private let owner = UUID()
    /// Guards the events, so that the delay is set from their newest state.
    private let state = Mutex(State())

    /// - Parameter limit: How long changes wait at most, counted from when they could be sent.
    init(of account: StreamAccount, on network: NetworkLayer, upTo limit: Duration) {
        (self.account, self.network, self.limit) = (account, network, limit)
    }

    /// Begins the delay.
    func begin() { change { $0 = State(isBegun: true) } }

    /// Lets the delay end when these events have caught up.
    func follow(_ events: EventSequence) { change { $0.events = events } }

    /// Ends the delay.
    func end() { change { $0 = State() } }

    /// The stream has caught up, its state or the suspicion of its link has changed, or somebody has signed in or out.
    func update() { change { _ in } }

    private func change(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            let isDue = state.isBegun && account.isPresent && state.events?.driver.isCertainlyCaughtUp != true
            network.delayChanges(of: Service.self, owner: owner, upTo: isDue ? limit : nil)
        }
    }
}
