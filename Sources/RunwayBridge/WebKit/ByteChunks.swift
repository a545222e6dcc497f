import Foundation

/// Sends the bytes of calls to a page as base64, one chunk after the other, so that little is in flight. Pure.
///
/// `WKWebView` lets no app respond to requests of a remote page, so that its bytes have to pass as text.
struct ByteChunks {
    /// The bytes of one chunk, whose base64 has 960,000 characters.
    static let byteCount = 720_000

    /// A message to the page: a chunk, or the end of a call.
    struct Sending: Equatable {
        /// Identifies the message.
        let number: Int
        let reply: PageReply
        let context: String
    }

    private struct Transfer {
        let reply: PageReply
        let context: String
        let data: Data
        var offset = 0
    }

    private var transfers: [Transfer] = []
    private var count = 0
    private var isInFlight = false

    /// Adds the bytes of a call, with the reply that ends the call.
    ///
    /// If more than `limit` calls wait, the one that has waited longest loses its bytes: its error is returned.
    mutating func add(
        _ data: Data, for reply: PageReply, to context: String, atMost limit: Int
    ) -> (reply: PageReply, context: String)? {
        transfers.append(Transfer(reply: reply, context: context, data: data))
        let waiting = transfers.indices.filter { transfers[$0].offset == 0 }
        guard waiting.count > limit, let oldest = waiting.first else { return nil }
        let dropped = transfers.remove(at: oldest)
        let reply = dropped.reply.with(.failed, "The page takes the bytes of its calls too slowly.", .busy)
        return (reply, dropped.context)
    }

    /// Returns the message that is sent now; `nil` if there is none, or if the page has not taken the one before.
    mutating func next() -> Sending? {
        guard !isInFlight, let transfer = transfers.first else { return nil }
        isInFlight = true
        count += 1
        let rest = transfer.data.dropFirst(transfer.offset)
        if rest.isEmpty {
            transfers.removeFirst()
            return Sending(number: count, reply: transfer.reply.with(.bytes, ""), context: transfer.context)
        }
        let chunk = rest.prefix(Self.byteCount)
        transfers[0].offset += chunk.count
        let text = chunk.base64EncodedString()
        return Sending(number: count, reply: transfer.reply.with(.chunk, text), context: transfer.context)
    }

    /// Records that the page has taken a message. If `wantsMore` is `false`, the remaining bytes of the call are not
    /// sent.
    mutating func taken(_ sending: Sending, wantsMore: Bool) {
        guard isInFlight, sending.number == count else { return }
        isInFlight = false
        if !wantsMore, sending.reply.kind == .chunk { transfers[0].offset = transfers[0].data.count }
    }

    /// The document is gone. It acknowledges nothing any more.
    mutating func removeAll() { (transfers, isInFlight) = ([], false) }
}

extension PageReply {
    fileprivate func with(_ kind: Kind, _ text: String, _ error: BridgeError.Kind? = nil) -> PageReply {
        PageReply(
            document: document, generation: generation, id: id, kind: kind,
            errorKind: error?.description ?? errorKind, text: text)
    }
}
