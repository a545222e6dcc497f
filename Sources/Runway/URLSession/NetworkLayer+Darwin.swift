#if canImport(Darwin)
    extension NetworkLayer {
        /// Creates a layer over a ``URLSessionTransport``, the default on Apple's systems. There the system decides
        /// about HTTP/3, the radio and the VPN. Calls can wait for a network, because the default of `status` is the
        /// system's status.
        ///
        /// If the app has its transport as `any Transport`, use the initializer for any transport, whose default status
        /// is unknown.
        ///
        /// - Parameters:
        ///   - name: The name in records. The default is `default`.
        ///   - transport: Sends the requests of every service without its own transport. The default has the default
        ///     configuration and no pins.
        ///   - pipeline: The sequence of stages. The default is the default stages.
        ///   - clock: The clocks. The default is the system's clocks.
        ///   - sinks: Receive a record of every call. The default is empty.
        ///   - redaction: The rules by which secrets are removed from records, logs and errors. By default secrets and
        ///     bodies are removed.
        ///   - limits: The limits of the resources that the calls share.
        ///   - diskCache: Stores responses of endpoints whose policy allows storing on disk. The default, `nil`, stores
        ///     none on disk.
        ///   - offlineQueue: Stores the calls of endpoints with an ``OfflinePolicy`` while they can't be sent. The
        ///     default, `nil`, stores none.
        ///   - status: Reports the device's network. The default is the system's status.
        ///   - tokens: Stores access tokens. The default, `nil`, stores them in memory until the app ends.
        ///   - grace: Requests background time from the system for calls in flight. The default, `nil`, requests none.
        ///   - randomness: Randomises backoff. The default is the system's generator; tests pass a seeded one.
        public convenience init(
            name: String = "default", transport: URLSessionTransport = URLSessionTransport(),
            pipeline: RequestPipeline = RequestPipeline(), clock: LayerClock = .system, sinks: [any EventSink] = [],
            redaction: Redaction = .default, limits: LayerLimits = LayerLimits(), diskCache: (any CacheTier)? = nil,
            offlineQueue: (any ChangeQueue)? = nil, status: any NetworkStatusSource = PathNetworkStatus(),
            tokens: (any TokenStore)? = nil, grace: (any BackgroundGrace)? = nil,
            randomness: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
        ) {
            // The explicit type selects the initializer for any transport.
            self.init(
                name: name, transport: transport as any Transport, pipeline: pipeline, clock: clock, sinks: sinks,
                redaction: redaction, limits: limits, diskCache: diskCache, offlineQueue: offlineQueue, status: status,
                tokens: tokens, grace: grace, randomness: randomness)
        }
    }
#endif
