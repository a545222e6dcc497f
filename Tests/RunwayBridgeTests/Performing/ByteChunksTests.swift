import Foundation
import Testing

@testable import RunwayBridge

@Suite struct ByteChunksTests {
    private func reply(_ id: Int) -> PageReply {
        PageReply(document: "a", generation: 1, id: id, kind: .bytes, errorKind: "", text: "")
    }

    @Test func theOldestWaitingBytesAreDropped() {
        var chunks = ByteChunks()
        let data = Data(repeating: 7, count: 3)
        #expect(chunks.add(data, for: reply(1), to: "c", atMost: 2) == nil)
        // The bytes that have begun stay.
        let first = chunks.next()
        for id in 2...3 { #expect(chunks.add(data, for: reply(id), to: "c", atMost: 2) == nil) }
        let dropped = chunks.add(data, for: reply(4), to: "c", atMost: 2)
        #expect(dropped?.reply.id == 2 && dropped?.reply.kind == .failed && dropped?.context == "c")
        #expect(dropped?.reply.errorKind == "\(BridgeError.Kind.busy)")
        var ids: [Int] = []
        var sending = first
        while let sent = sending {
            if sent.reply.kind == .bytes { ids.append(sent.reply.id) }
            chunks.taken(sent, wantsMore: true)
            sending = chunks.next()
        }
        #expect(ids == [1, 3, 4])
    }
}
