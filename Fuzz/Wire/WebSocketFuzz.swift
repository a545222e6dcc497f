import NIOCore
import NIOEmbedded
import NIOWebSocket
import Runway

@testable import RunwayTransport

/// WebSockets: frames of a server through NIO's decoder and our machine, compressed messages, and what a handshake agrees on.
enum WebSocketFuzz {
    static func run(_ input: FuzzInput) {
        checkFrames(input)
        checkRoundTrip(input)
        checkAgreement(input)
        checkClose(input.bytes)
    }

    /// What a reader and the server see.
    private struct Seen: Equatable {
        var actions: [WebSocketMachine.Action] = []
        var received: WebSocketClose?
        var sent: WebSocketClose?
    }

    private final class Reader: ChannelInboundHandler {
        typealias InboundIn = WebSocketFrame

        var machine: WebSocketMachine
        var actions: [WebSocketMachine.Action] = []

        init(_ machine: WebSocketMachine) { self.machine = machine }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            actions += machine.receive(unwrapInboundIn(data))
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            if let error = error as? NIOWebSocketError { actions += machine.receive(error) }
        }
    }

    private static func checkFrames(_ input: FuzzInput) {
        let limit = input.isOn(2) ? 300 : 1 << 20
        let whole = seen(input, input.whole, limit)
        check(seen(input, input.pieces, limit) == whole, "other messages in pieces")
        if input.bytes.count <= 1024 { check(seen(input, input.single, limit) == whole, "other messages byte by byte") }
        var hasEnded = false
        var closeCount = 0
        for action in whole.actions {
            switch action {
            case .deliver(let payload):
                check(!hasEnded, "a message after the end")
                check(payload.byteCount <= limit, "a message larger than the limit")
            case .end:
                check(!hasEnded, "two ends")
                hasEnded = true
            case .sendClose(let close):
                closeCount += 1
                check(close.code.map(WebSocketClose.isValid) ?? true, "an invalid code is sent")
                check(close.payload.readableBytes <= 125, "a close frame that is too large")
            case .pong(let bytes): check(bytes.readableBytes <= 125 && closeCount == 0, "an invalid pong")
            case .awaitClose, .cut: break
            }
        }
        check(closeCount <= 1 && hasEnded, "an end without a close frame, or with two")
    }

    private static func seen(_ input: FuzzInput, _ pieces: [ArraySlice<UInt8>], _ limit: Int) -> Seen {
        let inflater = input.isOn(0) ? MessageInflater(resetsContext: input.isOn(1)) : nil
        let reader = Reader(WebSocketMachine(maximumMessageByteCount: limit, inflater: inflater))
        let channel = EmbeddedChannel(handlers: [
            ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: limit + limit >> 10 + 64)), reader,
        ])
        for piece in pieces { _ = try? channel.writeInbound(ByteBuffer(bytes: piece)) }
        _ = try? channel.finish(acceptAlreadyClosed: true)
        reader.actions += reader.machine.channelClosed()
        return Seen(actions: reader.actions, received: reader.machine.received, sent: reader.machine.sent)
    }

    /// Messages, one for each piece of the input, that are compressed and decompressed.
    private static func checkRoundTrip(_ input: FuzzInput) {
        let bits = input.isOn(3) ? 9 : 15
        guard let deflater = MessageDeflater(windowBits: bits, resetsContext: input.isOn(4)),
            let inflater = MessageInflater(resetsContext: input.isOn(4))
        else { preconditionFailure("there is not enough memory") }
        for piece in input.pieces.prefix(64) {
            var rest = deflater.compress(Array(piece))[...]
            var message: [UInt8] = []
            repeat {
                let part = rest.prefix(100)
                rest = rest.dropFirst(100)
                let room = piece.count - message.count
                let read = try? inflater.read(ByteBuffer(bytes: part), isLast: rest.isEmpty, upTo: room)
                check(read != nil, "what was compressed can't be read")
                message += read ?? []
            } while !rest.isEmpty
            check(message == Array(piece), "another message comes out")
        }
    }

    private static func checkAgreement(_ input: FuzzInput) {
        var offer = WebSocketOffer.Deflate()
        offer.resetsServerContext = input.isOn(5)
        offer.resetsClientContext = input.isOn(6)
        if input.isOn(7) { offer.serverWindowBits = 10 }
        let field = String(decoding: input.bytes, as: UTF8.self)
        guard let agreement = try? DeflateAgreement.accepted([field], of: offer) else { return }
        check((8...(offer.serverWindowBits ?? 15)).contains(agreement.serverWindowBits), "a window that is too large")
        check((8...15).contains(agreement.clientWindowBits), "a window of no size")
        check(agreement.resetsServerContext || !offer.resetsServerContext, "a demand that is ignored")
        check((try? DeflateAgreement.accepted([agreement.text], of: offer)) == agreement, "another agreement")
        check((try? DeflateAgreement.accepted([field], of: nil)) == nil, "an extension that was not offered")
    }

    private static func checkClose(_ bytes: [UInt8]) {
        guard bytes.count <= 125, let close = try? WebSocketClose(ByteBuffer(bytes: bytes)) else { return }
        check(Array(close.payload.readableBytesView) == bytes, "another close frame when it is sent")
    }
}
