import Runway

/// The address at which a server listens: an IP address or `localhost`, and a port.
struct ListeningAddress: Sendable, Equatable {
    /// The IP address without brackets, or `localhost`.
    let host: String
    /// The port; 0 lets the system choose a free one.
    let port: Int

    /// Parses an address such as `127.0.0.1:8080` or `[::1]:8080`.
    ///
    /// - Throws: ``CommandFailure`` that names the problem.
    init(_ text: String) throws(CommandFailure) {
        let problem = CommandFailure(
            "--listen needs an address and a port, such as 127.0.0.1:8080, not \"\(text)\".")
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65535).contains(port)
        else { throw problem }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard IPAddress(host)?.family == .v6 else { throw problem }
        } else {
            guard host == "localhost" || IPAddress(host)?.family == .v4 else { throw problem }
        }
        self.host = host
        self.port = port
    }

    /// Whether only this machine can reach the address (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3).
    var isLoopback: Bool { host.isLoopbackHost }

    /// Returns the address and a port in the form of a URL's authority.
    func authority(port: Int) -> String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
