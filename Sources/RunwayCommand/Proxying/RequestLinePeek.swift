import HTTPTypes
import NIOCore
import NIOHTTP1

/// Stores the start of the client's last message, which the parser does not report when it refuses it.
///
/// The handler is before the parser and passes all bytes on.
final class RequestLinePeek: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var start: [UInt8] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = Self.unwrapInboundIn(data)
        start = Array(buffer.readableBytesView.prefix(32))
        context.fireChannelRead(data)
    }

    /// The method of a request line, if the parser does not know it.
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
    /// The method whose name in NIO is not the one in the request line.
    private static let search = (inNIO: HTTPMethod.MSEARCH, onTheWire: "M-SEARCH")

    /// The method by the name in the request line, which a proxy passes unchanged (RFC 9110 §9.1).
    var asReceived: HTTPMethod { self == Self.search.inNIO ? .RAW(value: Self.search.onTheWire) : self }

    /// Whether NIO's parser reads a request line with this method.
    fileprivate static func isParsed(_ name: String) -> Bool {
        if case .RAW = HTTPMethod(rawValue: name) { return name == search.onTheWire }
        return name != search.inNIO.rawValue
    }
}
