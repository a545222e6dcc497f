import HTTPTypes
import NIOCore
import NIOHTTP1

/// Stores the start of the client's last message. The parser does not report these bytes when it fails.
///
/// The handler is before the parser, and passes all bytes on.
final class RequestLinePeek: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var start: [UInt8] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = Self.unwrapInboundIn(data)
        start = Array(buffer.readableBytesView.prefix(32))
        context.fireChannelRead(data)
    }

    /// The method of the request line if the parser does not know it; otherwise `nil`.
    var unknownMethod: String? {
        let token = start.prefix { $0 != 0x20 }
        guard token.count < start.count - 1, start[token.count + 1] == UInt8(ascii: "/"),
            let method = HTTPRequest.Method(String(decoding: token, as: UTF8.self)),
            !HTTPMethod.isParsed(method.rawValue)
        else { return nil }
        return method.rawValue
    }
}

extension HTTPMethod {
    /// The method that has another name in NIO than in a request line.
    private static let search = (inNIO: HTTPMethod.MSEARCH, onTheWire: "M-SEARCH")

    /// The method under its name in the request line. A proxy forwards this name unchanged (RFC 9110 §9.1).
    var asReceived: HTTPMethod { self == Self.search.inNIO ? .RAW(value: Self.search.onTheWire) : self }

    /// Whether NIO's parser accepts a request line with this method.
    fileprivate static func isParsed(_ name: String) -> Bool {
        if case .RAW = HTTPMethod(rawValue: name) { return name == search.onTheWire }
        return name != search.inNIO.rawValue
    }
}
