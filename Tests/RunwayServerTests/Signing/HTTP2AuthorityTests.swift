import HTTPTypes
import NIOCore
import NIOPosix
import RunwayServer
import RunwaySignatures
import Testing

/// `Host` beside `:authority` (RFC 9113 §8.3.1), in frames of real connections.
@Suite(.timeLimit(.minutes(5)))
struct HTTP2AuthorityTests {
    /// What a request names as its server, and the reason of the refusal; `nil` if it is accepted.
    struct Naming: CustomTestStringConvertible {
        var authority: String?
        var hosts: [String] = []
        var reason: String?

        var testDescription: String { "\(authority ?? "no authority"), \(hosts)" }
    }

    /// Sends a signed request with these names.
    private func reply(to naming: Naming, by server: SignedServer) async throws -> String {
        let request = try await SignedCall().signed()
        let pseudo: [(String, String?)] = [
            (":method", "GET"), (":scheme", "https"), (":path", request.path), (":authority", naming.authority),
        ]
        let fields =
            pseudo.compactMap { name, value in value.map { (name, $0) } } + naming.hosts.map { ("host", $0) }
            + request.headerFields.map { ($0.name.canonicalName, $0.value) }
        return try await HTTP2Frames.exchange(fields, port: server.port)
    }

    private func expect(_ naming: Naming, by server: SignedServer) async throws {
        let reply = try await reply(to: naming, by: server)
        if let reason = naming.reason {
            #expect(reply.contains("urn:runway:signature:\(reason)\""), "\(reply)")
        } else {
            #expect(reply.hasPrefix("k-1 anna /v1/echo/"), "\(reply)")
        }
    }

    @Test(arguments: [
        Naming(authority: "api.example.com"),
        Naming(authority: "api.example.com", hosts: ["api.example.com"]),
        Naming(authority: "api.example.com", hosts: ["API.example.com:443"]),
        Naming(authority: "api.example.com:443", hosts: ["api.example.com", "api.example.com"]),
        Naming(hosts: ["api.example.com"]),
        // The configured authority counts; a proxy may have replaced both.
        Naming(authority: "10.0.0.7:8080", hosts: ["10.0.0.7:8080"]),
        Naming(authority: "api.example.com", hosts: ["other.example.com"], reason: "malformed"),
        Naming(authority: "other.example.com", hosts: ["api.example.com"], reason: "malformed"),
        Naming(authority: "api.example.com", hosts: ["api.example.com:8443"], reason: "malformed"),
        Naming(authority: "api.example.com", hosts: [""], reason: "malformed"),
        Naming(
            authority: "api.example.com", hosts: ["api.example.com", "other.example.com"], reason: "malformed"),
        Naming(hosts: ["api.example.com", "other.example.com"], reason: "malformed"),
    ])
    func hostThatDiffersFromTheAuthorityIsRefused(_ naming: Naming) async throws {
        try await withSignedServer(.plainHTTP2) { server in try await expect(naming, by: server) }
    }

    @Test func ofSeveralAuthoritiesTheNamedOneIsVerified() async throws {
        try await withSignedServer(.plainHTTP2, rules: { $0.origin = PublicOrigin("b.example.com", "api.example.com") })
        {
            server in
            for naming in [
                Naming(authority: "api.example.com", hosts: ["api.example.com:443"]),
                // Signed for another than the named one.
                Naming(authority: "b.example.com", hosts: ["b.example.com"], reason: "invalid"),
                Naming(authority: "b.example.com", hosts: ["api.example.com"], reason: "malformed"),
                Naming(authority: "c.example.com", hosts: ["c.example.com"], reason: "authority"),
                Naming(reason: "authority"),
            ] { try await expect(naming, by: server) }
        }
    }
}

/// Frames of HTTP/2 (RFC 9113 §4), written and read as a test needs them: no library puts `Host` beside `:authority`.
enum HTTP2Frames {
    /// Sends one request without a body, and returns the body of its response.
    static func exchange(_ fields: [(String, String)], port: Int) async throws -> String {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(opening(fields))
            var (received, body) = (ByteBuffer(), "")
            for try await part in inbound {
                received.writeImmutableBuffer(part)
                while let (type, flags, payload) = readFrame(of: &received) {
                    switch type {
                    case 0: body += String(buffer: payload)
                    case 3: return "RST_STREAM \(body)"
                    case 7: return "GOAWAY \(body)"
                    default: break
                    }
                    if type <= 1, flags & 1 == 1 { return body }
                }
            }
            return "closed \(body)"
        }
    }

    /// What a client sends first, with one request without a body.
    static func opening(_ fields: [(String, String)]) -> ByteBuffer {
        var bytes = ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        write(type: 4, flags: 0, stream: 0, [], to: &bytes)
        let block = fields.flatMap { name, value -> [UInt8] in [0] + literal(name) + literal(value) }
        write(type: 1, flags: 5, stream: 1, block, to: &bytes)
        return bytes
    }

    /// The fields of a request without a body.
    static func get(_ path: String) -> [(String, String)] {
        [(":method", "GET"), (":scheme", "http"), (":path", path), (":authority", "localhost")]
    }

    /// A string without Huffman's code (RFC 7541 §5.2).
    private static func literal(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        var (length, rest) = ([UInt8](), bytes.count - 127)
        if rest < 0 { return [UInt8(bytes.count)] + bytes }
        while rest >= 128 {
            length.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        return [127] + length + [UInt8(rest)] + bytes
    }

    private static func write(type: UInt8, flags: UInt8, stream: UInt32, _ payload: [UInt8], to bytes: inout ByteBuffer)
    {
        bytes.writeInteger(UInt32(payload.count) << 8 | UInt32(type))
        bytes.writeInteger(flags)
        bytes.writeInteger(stream)
        bytes.writeBytes(payload)
    }

    private static func readFrame(of bytes: inout ByteBuffer) -> (type: UInt8, flags: UInt8, payload: ByteBuffer)? {
        guard let head = bytes.getInteger(at: bytes.readerIndex, as: UInt32.self), bytes.readableBytes >= 9,
            bytes.readableBytes >= 9 + Int(head >> 8)
        else { return nil }
        bytes.moveReaderIndex(forwardBy: 4)
        let flags = bytes.readInteger(as: UInt8.self) ?? 0
        bytes.moveReaderIndex(forwardBy: 4)
        return (UInt8(truncatingIfNeeded: head), flags, bytes.readSlice(length: Int(head >> 8)) ?? ByteBuffer())
    }
}
