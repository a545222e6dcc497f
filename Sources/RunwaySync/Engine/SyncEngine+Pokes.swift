import Runway
import RunwayJSON
import RunwayStreams
import RunwaySyncCore

extension SyncEngine {
    /// Handles an element of the stream of pokes.
    func receive(_ element: StreamElement, of spaces: Set<Identifier>) {
        switch element {
        case .event(let event):
            guard let space = spaces.first(where: { SyncCalls.topic(of: $0) == event.topic }) else { return }
            if let digest = event.rawData["file"].string { files.poke(FileItem.Key(space: space, digest: digest)) }
            guard let head = event.rawData["head"].int64
            else { return }
            loop(of: space)?.poke(head: head)
        // Pokes may have been missed before.
        case .continuity: prompt(isUrgent: true)
        case .caughtUp: break
        }
    }
}
