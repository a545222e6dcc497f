import Foundation
import Runway
import RunwayTransport

/// The connection settings of a call: the trusted servers, the client certificate, the proxy, and the time limits.
struct CallConnection: Sendable {
    var timeout: Duration
    var isHTTP1Only: Bool
    var certificateAuthorityFile: String?
    var isInsecure: Bool
    /// The client certificate, and its key if the same file does not hold it.
    var certificateFile: String?
    var keyFile: String?
    /// The proxy's URL, or `none`; `nil` for the proxies of the environment.
    var proxy: String?

    /// Returns the proxy that `--proxy` names, or the proxies of the environment.
    ///
    /// - Throws: ``CommandFailure`` for `--proxy`. Its value, which may hold a password, is not shown.
    func proxies() throws(CommandFailure) -> ProxySettings {
        if proxy == "none" { return .none }
        guard let proxy else { return ProxySettings(environment: ProcessInfo.processInfo.environment) }
        guard !proxy.isEmpty, let server = RunwayTransport.ProxyServer(url: proxy) else {
            throw CommandFailure("--proxy needs http://[user:password@]host:port, socks5://host:port, or none.")
        }
        var settings = ProxySettings(https: server, http: server)
        settings.includesLoopback = true
        return settings
    }

    /// The settings of the transport for calls to a host.
    ///
    /// - Throws: ``CommandFailure`` if a file or the proxy can't be used.
    func configuration(for host: String) throws(CommandFailure) -> TransportConfiguration {
        var configuration = TransportConfiguration(
            trust: try TransportConfiguration.Trust(cacert: certificateAuthorityFile),
            httpVersions: isHTTP1Only ? .http1Only : .automatic, connectTimeout: min(timeout, .seconds(10)),
            idleTimeout: timeout)
        configuration.proxies = try proxies()
        if isInsecure {
            // Only for this host: the target of a redirect is verified.
            configuration.trustPolicy.developmentExceptions = [.skippingVerification(of: host)]
            configuration.trustPolicy.allowsExceptionsInReleaseBuilds = true
        }
        if let certificateFile {
            let chain = try TextFile(path: certificateFile, of: "--cert").text
            let key = if let keyFile { try TextFile(path: keyFile, of: "--key").text } else { chain }
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
}
