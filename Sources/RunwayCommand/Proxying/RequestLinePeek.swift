import NIOCore
import NIOHTTP1

/// Remembers how what a client sent last begins, which nobody can ask the parser that refuses it.
///
/// It stands before the parser and passes all on.
final class RequestLinePeek: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var start: [UInt8] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = Self.unwrapInboundIn(data)
        start = Array(buffer.readableBytesView.prefix(32))
        context.fireChannelRead(data)
    }

    /// The method of a request line, where it is one that the parser does not know.
    var unknownMethod: String? {
        let token = start.prefix { $0 != 0x20 }
        guard !token.isEmpty, token.count < start.count - 1, token.allSatisfy({ Self.isLetterOfMethods($0) }),
            start[token.count + 1] == UInt8(ascii: "/")
        else { return nil }
        let method = String(decoding: token, as: UTF8.self)
        guard case .RAW = HTTPMethod(rawValue: method) else { return nil }
        return method
    }

    private static func isLetterOfMethods(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "-")
    }
}
