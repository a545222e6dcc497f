import RunwaySyncCore
import Synchronization

/// Publishes the heads of spaces after commits, so that devices pull at once (rule 9).
///
/// While the head of a space is being published, newer heads of the space are combined. A wake-up that can't be
/// published is dropped, since devices also pull by a timer (rule 20).
final class SyncPokes: Sendable {
    private let hub: EventHub
    /// Guards the newest head of each space that is being published; `nil` if there is no newer one.
    private let heads = Mutex<[Identifier: Int64?]>([:])

    init(_ hub: EventHub) { self.hub = hub }

    func publish(_ head: Int64, of space: Identifier) {
        let starts = heads.withLock { heads in
            guard let next = heads[space] else {
                heads[space] = .some(nil)
                return true
            }
            heads[space] = max(next ?? head, head)
            return false
        }
        if starts { Task { await publishAll(from: head, of: space) } }
    }

    /// Publishes the digest of a file that has arrived.
    func publish(_ digest: String, of space: Identifier) async {
        let event = PublishedEvent(
            topic: SyncService.topic(of: space), type: SyncService.eventType, data: #"{"head":0,"file":"\#(digest)"}"#)
        _ = try? await hub.publish(event)
    }

    private func publishAll(from head: Int64, of space: Identifier) async {
        var next: Int64? = head
        while let head = next {
            let event = PublishedEvent(
                topic: SyncService.topic(of: space), type: SyncService.eventType, data: #"{"head":\#(head)}"#)
            _ = try? await hub.publish(event)
            next = heads.withLock { heads in
                let newer = heads[space] ?? nil
                heads[space] = newer == nil ? nil : .some(nil)
                return newer
            }
        }
    }
}
