@testable import RunwayTransport

/// What proxies say.
enum ProxyFuzz {
    static func run(_ input: FuzzInput) {
        let server = ProxyServer(
            input.isOn(0) ? .socks5 : .http, host: "proxy.test", port: 3128,
            credentials: input.isOn(1) ? .init(name: "name", password: "word") : nil)
        let host = input.isOn(2) ? (input.isOn(3) ? "2001:db8::7" : "203.0.113.7") : "api.example.com"
        let pieces = talk(with: server, host, input.pieces)
        let single = talk(with: server, host, input.single)
        check(pieces.isDone == false || single.isDone, "it helps in pieces and not byte by byte")
        // Byte by byte nothing comes before it is asked for; in larger pieces it may, and is refused for it.
        guard pieces.failure == nil else { return }
        check(pieces.sent == single.sent && pieces.isDone == single.isDone, "it receives something else byte by byte")
        check(single.failure == nil || !pieces.isDone, "it fails byte by byte alone")
    }

    private struct Talk {
        var sent: [[UInt8]] = []
        var isDone = false
        var failure: ProxyError?
    }

    private static func talk(with server: ProxyServer, _ host: String, _ pieces: [ArraySlice<UInt8>]) -> Talk {
        var handshake = ProxyHandshake(server, host: host, port: 443)
        var talk = Talk()
        var byteCount = 0
        do {
            talk.sent.append(try handshake.start())
            for piece in pieces {
                byteCount += piece.count
                switch try handshake.receive(piece) {
                case .send(let bytes):
                    check(!bytes.isEmpty && bytes.count <= 520, "it receives nothing, or too much")
                    talk.sent.append(bytes)
                case .wait: break
                case .done:
                    talk.isDone = true
                    check(byteCount >= (server.kind == .http ? 12 : 2), "done before it could be")
                    return talk
                }
                check(byteCount <= ProxyHandshake.maximumByteCount, "it may say more than it may")
                check(talk.sent.count <= 3, "it receives more than expected")
            }
        } catch let error as ProxyError {
            check(error.description.utf8.count < 200, "a long error")
            talk.failure = error
        } catch {
            preconditionFailure("\(error)")
        }
        return talk
    }
}
