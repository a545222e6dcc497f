import ArgumentParser
import Foundation
import Runway
import RunwayTransport

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

    var limit: Duration { .milliseconds(Int64(max(timeout * 1000, 1))) }

    /// Returns the proxy of `--proxy`, or else the proxies of the environment variables.
    ///
    /// - Throws: ``CommandFailure`` if the value of `--proxy` is invalid. The error does not show the value, which may
    ///   contain a password.
    private func proxies() throws(CommandFailure) -> ProxySettings {
        if proxy == "none" { return .none }
        guard let proxy else { return ProxySettings(environment: ProcessInfo.processInfo.environment) }
        guard !proxy.isEmpty, let server = RunwayTransport.ProxyServer(url: proxy) else {
            throw CommandFailure("--proxy needs http://[user:password@]host:port, socks5://host:port, or none.")
        }
        var settings = ProxySettings(https: server, http: server)
        settings.includesLoopback = true
        return settings
    }

    /// Returns the settings of the transport for calls to a host.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - certificateFile: The file of the client certificate; `nil` without a client certificate.
    ///   - keyFile: The file of the private key; `nil` if the certificate file contains the key.
    /// - Throws: ``CommandFailure`` if a file or the proxy can't be used.
    func configuration(
        for host: String, certificateFile: String? = nil, keyFile: String? = nil
    ) throws(CommandFailure) -> TransportConfiguration {
        let timeout = limit
        var configuration = TransportConfiguration(
            trust: try TransportConfiguration.Trust(cacert: cacert),
            usesHTTP2: !http1, connectTimeout: min(timeout, .seconds(10)),
            idleTimeout: timeout)
        configuration.proxies = try proxies()
        if insecure {
            // The exception covers only this host, so the certificate of a redirect's target is verified.
            configuration.trustPolicy.developmentExceptions = [.skippingVerification(of: host)]
            configuration.trustPolicy.allowsExceptionsInReleaseBuilds = true
        }
        if let certificateFile {
            let chain = try WholeFile.text(certificateFile, of: "--cert")
            let key = if let keyFile { try WholeFile.text(keyFile, of: "--key") } else { chain }
            do throws(NetworkError) {
                configuration.trustPolicy.clientIdentities = [
                    try ClientIdentity(for: host, certificateChainPEM: chain, privateKeyPEM: key)
                ]
            } catch {
                throw CommandFailure(
                    "--cert needs a certificate and its unencrypted private key as PEM; --key names the file of the key."
                )
            }
        }
        return configuration
    }

    /// Prints a warning if the command does not verify the certificate of an `https` URL.
    func warnIfInsecure(_ target: CallTarget) {
        guard insecure, target.scheme == "https" else { return }
        Console.error.warn(
            "The certificate of \(target.host) is not verified: anyone on the way can read and change what is sent.")
    }
}

/// The maximum number of seconds that an option accepts.
enum TimeoutLimit: Double {
    case minute = 60
    /// One year. The system's clocks can't represent every `Double`.
    case year = 31_536_000

    /// Throws an error if a number of seconds is not above 0, or exceeds the limit.
    func check(_ seconds: Double, of option: String) throws {
        guard seconds > 0, seconds <= rawValue else {
            throw ValidationError("\(option) needs a number of seconds above 0 and of at most a \(self).")
        }
    }
}

extension TransportConfiguration.Trust {
    /// Reads the certificate authorities of the option `--cacert`, which replace the system's authorities. If `path` is
    /// `nil`, the system's authorities apply.
    ///
    /// - Throws: ``CommandFailure`` if the file can't be read, or contains no certificate.
    init(cacert path: String?) throws(CommandFailure) {
        guard let path else {
            self = .system
            return
        }
        let text = try WholeFile.text(path, of: "--cacert")
        guard text.contains("-----BEGIN CERTIFICATE-----") else {
            throw CommandFailure("The file \"\(path)\" of --cacert holds no certificate as PEM.")
        }
        self = .certificates(pem: [text])
    }
}

extension NIOTransport {
    /// Creates a transport.
    ///
    /// - Parameter path: The file of `--cacert`, for error messages; `nil` without the option.
    /// - Throws: ``CommandFailure`` if the configuration can't be used.
    convenience init(_ configuration: TransportConfiguration, cacert path: String?) throws(CommandFailure) {
        do throws(NetworkError) {
            try self.init(configuration: configuration)
        } catch {
            throw CommandFailure(error, cacert: path)
        }
    }
}

extension CommandFailure {
    /// Creates the error for a transport that can't be created. The error names the file of `--cacert` if the option
    /// was used.
    init(_ error: NetworkError, cacert path: String?) {
        self.init(path.map { "The file \"\($0)\" of --cacert can't be used: \(error.detail)" } ?? error.detail)
    }
}
