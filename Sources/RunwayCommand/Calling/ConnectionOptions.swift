import ArgumentParser
import Runway

/// The connection options of `runway call` and `runway listen`.
struct ConnectionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The longest wait for the server.", valueName: "seconds"))
    var timeout = 60.0

    @Option(help: ArgumentHelp("The proxy: http:// or socks5://, or none.", valueName: "url"))
    var proxy: String?

    @Option(
        help: ArgumentHelp("Trust the certificate authorities in FILE (PEM), and no others.", valueName: "file"),
        completion: .file())
    var cacert: String?

    @Flag(name: [.customShort("k"), .long], help: "Do not verify the certificate of the URL's host.")
    var insecure = false

    @Flag(help: "Offer HTTP/1.1 alone.")
    var http1 = false

    func validate() throws {
        try TimeoutLimit.year.check(timeout, of: "--timeout")
        if insecure, cacert != nil { throw ValidationError("--insecure and --cacert exclude one another.") }
    }

    /// The connection, without a client certificate.
    var connection: CallConnection {
        CallConnection(
            timeout: .milliseconds(Int64(max(timeout * 1000, 1))), isHTTP1Only: http1, certificateAuthorityFile: cacert,
            isInsecure: insecure, proxy: proxy)
    }

    /// Warns if the certificate of a URL is not verified.
    func warnIfInsecure(_ target: CallTarget) {
        guard insecure, target.scheme == "https" else { return }
        Console.error.warn(
            "The certificate of \(target.host) is not verified: anyone on the way can read and change what is sent.")
    }
}
