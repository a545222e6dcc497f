import AsyncHTTPClient
import NIOCore
import NIOSSL

@testable import Runway
@testable import RunwayTransport

extension TransportConfiguration {
    /// Whom AsyncHTTPClient trusts.
    ///
    /// - Throws: ``NetworkError/Kind/invalidConfiguration`` for certificates that can't be read, and for what it can't hold to.
    private func clientTLSConfiguration() throws(NetworkError) -> TLSConfiguration {
        let material = try TrustMaterial(trustPolicy)
        guard trustPolicy.pins.isEmpty, trustPolicy.clientIdentities.isEmpty, trustPolicy.developmentExceptions.isEmpty
        else {
            throw NetworkError(
                .invalidConfiguration, in: .transporting,
                "AsyncHTTPClientTransport knows no pins, client certificates or exceptions; NIOTransport does.")
        }
        return material.configuration(rootsFrom: nil)
    }

    /// The configuration in AsyncHTTPClient's terms.
    ///
    /// Redirects are up to a stage, and so is another attempt to connect.
    ///
    /// - Throws: ``NetworkError/Kind/invalidConfiguration`` for certificates that can't be read, and for trust that it can't hold to.
    func httpClientConfiguration() throws(NetworkError) -> HTTPClient.Configuration {
        let tls = try clientTLSConfiguration()
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(connectTimeout), read: TimeAmount(idleTimeout)),
            connectionPool: .init(
                idleTimeout: TimeAmount(keepAlive),
                concurrentHTTP1ConnectionsPerHostSoftLimit: max(1, maximumConnectionsPerOrigin)),
            // The client undoes one coding, and takes the first that is named for the last that was applied.
            decompression: .disabled)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.httpVersion = usesHTTP2 ? .automatic : .http1Only
        return configuration
    }
}
