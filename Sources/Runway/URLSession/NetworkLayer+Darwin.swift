#if canImport(Darwin)
    extension NetworkLayer {
        /// Makes a layer over a ``URLSessionTransport``, the default on Apple's systems, where the system decides on HTTP/3, the
        /// radio and the VPN.
        ///
        /// - Parameters:
        ///   - name: The name that records show.
        ///   - sinks: What receives the record of every call. The default is empty.
        ///   - redaction: What is left out of records, logs and errors. The default is secrets and bodies.
        ///   - limits: The limits of what the calls share.
        ///   - diskCache: Stores the responses of endpoints with a disk cache. The default, `nil`, stores none.
        ///   - status: Reports the device's network. The default is the system's status.
        ///   - tokens: Stores access tokens. The default, `nil`, is the app's memory, which loses them when the app ends.
        ///   - grace: Asks the system for time in the background for calls in flight. The default, `nil`, asks for none.
        public convenience init(
            name: String = "default", sinks: [any EventSink] = [], redaction: Redaction = .default,
            limits: LayerLimits = LayerLimits(), diskCache: (any CacheTier)? = nil,
            status: any NetworkStatusSource = PathNetworkStatus(), tokens: (any TokenStore)? = nil,
            grace: (any BackgroundGrace)? = nil
        ) {
            self.init(
                name: name, transport: URLSessionTransport(), sinks: sinks, redaction: redaction, limits: limits,
                diskCache: diskCache, status: status, tokens: tokens, grace: grace)
        }
    }
#endif
