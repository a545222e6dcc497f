#if Command
    package import HummingbirdCore
    import HummingbirdHTTP2
    package import NIOSSL
    package import RunwayServer

    extension HTTPServerBuilder {
        /// A server whose connections are bounded, and are cut when it stops: over HTTP/2 and HTTP/1.1 with TLS, over
        /// HTTP/1.1 without.
        ///
        /// - Parameter onAccepting: Called with every connection.
        package static func bounded(
            _ limits: ConnectionLimits = ConnectionLimits(), tls: TLSConfiguration?,
            cuttingIn connections: OpenConnections,
            onAccepting: @escaping @Sendable () -> Void = {}
        ) -> HTTPServerBuilder {
            HTTPServerBuilder { responder in
                guard let tls else {
                    let channel = HTTP1Channel(responder: responder, configuration: limits.requests)
                    return CuttableChannel(
                        base: LimitedChannel(base: channel, limits: limits), connections: connections,
                        onAccepting: onAccepting)
                }
                let configuration = HTTP2ChannelConfiguration(
                    idleTimeout: limits.idleTime, streamConfiguration: limits.requests)
                let channel = try HTTP2UpgradeChannel(
                    tlsConfiguration: tls, configuration: configuration, responder: responder)
                return CuttableChannel(
                    base: LimitedChannel(base: channel, limits: limits), connections: connections,
                    onAccepting: onAccepting)
            }
        }
    }
#endif
