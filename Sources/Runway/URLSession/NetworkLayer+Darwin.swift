#if canImport(Darwin)
    extension NetworkLayer {
        /// Makes a layer over a ``URLSessionTransport``, the default on Apple's systems, where the system decides on
        /// HTTP/3, the radio and the VPN. Its calls can wait for a network, since the default of `status` is the
        /// system's status.
        ///
        /// A transport that the app has as `any Transport` is passed to the initializer for any transport, whose
        /// default status is unknown.
        ///
        /// - Parameters:
        ///   - name: The name that records show. The default is `default`.
        ///   - transport: Sends the requests of every service that has no transport of its own. The default has the
        ///     default configuration and no pins.
        ///   - pipeline: The chain of stages. The default is the default stages.
        ///   - clock: The clocks. The default is the system's.
        ///   - sinks: Receive a record of every call. The default is empty.
        ///   - redaction: The texts to leave out of records, logs and errors. The default leaves out secrets and
        ///     bodies.
        ///   - limits: Limits for the resources that the calls share.
        ///   - diskCache: Stores the responses of endpoints with a disk cache. The default, `nil`, stores none.
        ///   - offlineQueue: Stores the calls of endpoints with an ``OfflinePolicy`` while they can't be sent. The
        ///     default, `nil`, stores none.
        ///   - status: Reports the device's network. The default is the system's status.
        ///   - tokens: Stores access tokens. The default, `nil`, is the app's memory, which loses them when the app
        ///     ends.
        ///   - grace: Asks the system for time in the background for calls in flight. The default, `nil`, asks for
        ///     none.
        ///   - randomness: Randomises backoff. The default is the system's generator; a test passes one with a seed.
        public convenience init(
            name: String = "default", transport: URLSessionTransport = URLSessionTransport(),
            pipeline: RequestPipeline = RequestPipeline(), clock: LayerClock = .system, sinks: [any EventSink] = [],
            redaction: Redaction = .default, limits: LayerLimits = LayerLimits(), diskCache: (any CacheTier)? = nil,
            offlineQueue: (any ChangeQueue)? = nil, status: any NetworkStatusSource = PathNetworkStatus(),
            tokens: (any TokenStore)? = nil, grace: (any BackgroundGrace)? = nil,
            randomness: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
        ) {
            // The type chooses the initializer for any transport.
            self.init(
                name: name, transport: transport as any Transport, pipeline: pipeline, clock: clock, sinks: sinks,
                redaction: redaction, limits: limits, diskCache: diskCache, offlineQueue: offlineQueue, status: status,
                tokens: tokens, grace: grace, randomness: randomness)
        }
    }
#endif
