#if canImport(Darwin)
    extension NetworkLayer {
        /// Makes a layer over a ``URLSessionTransport``, which is the default on Apple's systems: HTTP/3, the radio and the VPN are the
        /// system's there.
        ///
        /// - Parameters:
        ///   - name: The name that records show.
        ///   - sinks: Who is told what happened to every call. The default is nobody.
        ///   - redaction: What is kept out of records, logs and errors. The default is secrets and bodies.
        ///   - limits: The bounds of what the calls share.
        ///   - diskCache: Where the answers of endpoints that say so are kept beyond memory. The default, `nil`, is nowhere.
        ///   - status: Knows what network the device has. The default asks the system.
        ///   - tokens: Where access tokens are kept. The default is the app's memory, which forgets them when the app ends.
        public convenience init(
            name: String = "default", sinks: [any EventSink] = [], redaction: Redaction = .default,
            limits: LayerLimits = LayerLimits(), diskCache: (any CacheTier)? = nil,
            status: any NetworkStatusSource = PathNetworkStatus(), tokens: any TokenStore = MemoryTokenStore()
        ) {
            self.init(
                name: name, transport: URLSessionTransport(), sinks: sinks, redaction: redaction, limits: limits,
                diskCache: diskCache, status: status, tokens: tokens)
        }
    }
#endif
