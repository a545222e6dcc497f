import Runway

/// The handshake with a proxy, after which the proxy forwards bytes: CONNECT (RFC 9110 §9.3.6) or SOCKS 5 (RFC 1928).
/// It performs no I/O.
struct ProxyHandshake {
    enum Step: Equatable {
        case send([UInt8])
        case wait
        /// The handshake is complete: further bytes are exchanged with the host.
        case done
    }

    private enum State {
        case connecting
        case greeting
        case authenticating
        case requesting
    }

    /// The maximum number of bytes that a proxy may send in its handshake.
    static let maximumByteCount = 16 << 10

    private let server: ProxyServer
    private let host: String
    private let port: Int
    private var state: State
    private var received: [UInt8] = []
    private var byteCount = 0

    init(_ server: ProxyServer, host: String, port: Int) {
        self.server = server
        self.host = host
        self.port = port
        state = server.kind == .http ? .connecting : .greeting
    }

    /// Returns the first bytes to send.
    ///
    /// - Throws: ``ProxyError`` for a host name that cannot be sent.
    func start() throws -> [UInt8] {
        guard server.kind == .socks5 else { return connectRequest }
        guard (1...255).contains(host.utf8.count) else { throw ProxyError("the host's name is too long for it") }
        if let credentials = server.credentials {
            guard (1...255).contains(credentials.name.utf8.count), (0...255).contains(credentials.password.utf8.count)
            else { throw ProxyError("its name or password is too long for it") }
            return [5, 2, 0, 2]
        }
        return [5, 1, 0]
    }

    /// Processes bytes from the proxy.
    ///
    /// - Throws: ``ProxyError`` if the proxy refuses, violates its protocol or sends too many bytes.
    mutating func receive(_ bytes: some Collection<UInt8>) throws -> Step {
        byteCount += bytes.count
        guard byteCount <= Self.maximumByteCount else { throw ProxyError("it sends more than it may") }
        received += bytes
        switch state {
        case .connecting: return try readHead()
        case .greeting: return try readMethod()
        case .authenticating: return try readAuthentication()
        case .requesting: return try readReply()
        }
    }

    // MARK: HTTP

    private var connectRequest: [UInt8] {
        let authority = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        var head = "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n"
        if let credentials = server.credentials {
            head += "Proxy-Authorization: \(credentials.authorization)\r\n"
        }
        return Array((head + "\r\n").utf8)
    }

    private mutating func readHead() throws -> Step {
        while let end = received.firstRange(of: Array("\r\n\r\n".utf8)) {
            let head = received[..<end.lowerBound]
            received = Array(received[end.upperBound...])
            let line = head.prefix { $0 != UInt8(ascii: "\r") }
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
            guard line.starts(with: Array("HTTP/1.".utf8)), words.count >= 2, words[1].count == 3,
                let status = Int(String(decoding: words[1], as: UTF8.self))
            else { throw ProxyError("its response is not HTTP") }
            switch status {
            case 100..<200 where status != 101: continue
            case 200..<300: return try done()
            case 407: throw ProxyError("it wants \(server.credentials == nil ? "a" : "another") name and password")
            default: throw ProxyError("it refuses to connect, with status \(status)")
            }
        }
        return .wait
    }

    // MARK: SOCKS

    private mutating func readMethod() throws -> Step {
        guard received.count >= 2 else { return .wait }
        guard received[0] == 5 else { throw ProxyError("its response is not SOCKS 5") }
        let method = received[1]
        received.removeFirst(2)
        switch (method, server.credentials) {
        case (0, _):
            state = .requesting
            return try expectSilence(.send(request))
        case (2, let credentials?):
            state = .authenticating
            let (name, password) = (Array(credentials.name.utf8), Array(credentials.password.utf8))
            return try expectSilence(
                .send([1, UInt8(name.count)] + name + [UInt8(password.count)] + password))
        default: throw ProxyError("it requires a method of authentication that is not supported")
        }
    }

    private mutating func readAuthentication() throws -> Step {
        guard received.count >= 2 else { return .wait }
        guard received[0] == 1, received[1] == 0 else { throw ProxyError("it wants another name and password") }
        received.removeFirst(2)
        state = .requesting
        return try expectSilence(.send(request))
    }

    /// The SOCKS request for the host, by its name or its address.
    private var request: [UInt8] {
        var bytes: [UInt8] = [5, 1, 0]
        if let address = IPAddress(host) {
            bytes += [address.family == .v4 ? 1 : 4] + address.bytes
        } else {
            bytes += [3, UInt8(truncatingIfNeeded: host.utf8.count)] + Array(host.utf8)
        }
        return bytes + [UInt8(truncatingIfNeeded: port >> 8), UInt8(truncatingIfNeeded: port)]
    }

    private mutating func readReply() throws -> Step {
        guard received.count >= 5 else { return .wait }
        guard received[0] == 5 else { throw ProxyError("its response is not SOCKS 5") }
        guard received[1] == 0 else { throw ProxyError("it refuses to connect: \(Self.reason(received[1]))") }
        let addressByteCount: Int
        switch received[3] {
        case 1: addressByteCount = 4
        case 3: addressByteCount = 1 + Int(received[4])
        case 4: addressByteCount = 16
        default: throw ProxyError("its response is not SOCKS 5")
        }
        guard received.count >= 4 + addressByteCount + 2 else { return .wait }
        received.removeFirst(4 + addressByteCount + 2)
        return try done()
    }

    /// Returns the meaning of a reply code (RFC 1928 §6).
    private static func reason(_ code: UInt8) -> String {
        switch code {
        case 2: "its rules forbid it"
        case 3: "the network can't be reached"
        case 4: "the host can't be reached"
        case 5: "the host refuses"
        case 6: "it took too long"
        default: "code \(code)"
        }
    }

    /// Completes the handshake. Throws a ``ProxyError`` if more bytes follow, since nothing was sent to the host yet.
    private func done() throws -> Step { try expectSilence(.done) }

    private func expectSilence(_ step: Step) throws -> Step {
        guard received.isEmpty else { throw ProxyError("it responds before it is asked") }
        return step
    }
}

/// The error of a proxy that does not connect to the host.
struct ProxyError: DescribedError, Equatable {
    private let reason: String

    init(_ reason: String) { self.reason = reason }

    var description: String { "the proxy does not help: \(reason)" }
}
