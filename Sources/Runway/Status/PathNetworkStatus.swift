#if canImport(Network)
    import Dispatch
    import Network
    import Synchronization

    /// The network status that Apple's systems report.
    ///
    /// The status is unknown until the system reports it for the first time, moments after the object was created. On
    /// watchOS the system reports no network to most apps, even if there is one. There, an absent network therefore
    /// counts as unknown.
    ///
    /// Networks are distinguished by gateway and interface. Mobile networks are distinguished by interface, and on iOS
    /// also by their generation. Two networks with the same gateway on the same interface, like many home networks,
    /// count as one, because the system reports more only to apps with access to the location.
    ///
    /// A layer over ``URLSessionTransport`` has this status by default. Pass it to a layer over another transport:
    ///
    /// ```swift
    /// let status = PathNetworkStatus()
    /// let network = NetworkLayer(transport: try NIOTransport(), status: status)
    /// print(status.current.link)  // unknown, until the system has reported
    /// ```
    public final class PathNetworkStatus: NetworkStatusSource {
        private let monitor = NWPathMonitor()
        private let status = SettableNetworkStatus()
        #if os(iOS) && !targetEnvironment(macCatalyst)
            private let radio: CellularRadio
        #endif

        /// Creates a source that observes the system's network paths.
        public init() {
            let queue = DispatchQueue(label: "runway.network-status")
            #if os(iOS) && !targetEnvironment(macCatalyst)
                // The reference is weak because the monitor retains its handler, and the handler retains the radio.
                let radio = CellularRadio { [weak monitor] in
                    // The update runs on the queue of the paths, so that no older status is set after a newer one.
                    queue.async { [monitor] in if let monitor { monitor.pathUpdateHandler?(monitor.currentPath) } }
                }
                self.radio = radio
                monitor.pathUpdateHandler = { [status, radio] path in
                    var current = NetworkStatus(path)
                    if current.link == .cellular { current.generation = radio.generation }
                    status.set(current)
                }
            #else
                monitor.pathUpdateHandler = { [status] path in status.set(NetworkStatus(path)) }
            #endif
            monitor.start(queue: queue)
        }

        deinit { monitor.cancel() }

        /// The last status that the system reported.
        public var current: NetworkStatus { status.current }

        /// Calls `onChange` on a private queue after every report that differs from the previous one.
        public func observe(_ onChange: @escaping @Sendable () -> Void) -> NetworkStatusObservation {
            status.observe(onChange)
        }
    }

    extension NetworkStatus {
        /// The kind of connection that is assumed if the network path is unsatisfied. On watchOS the path of most apps
        /// is never satisfied, although their sessions reach their hosts (Apple's technical note TN3135). The
        /// exceptions are apps that stream audio or make calls.
        private static var linkWithoutPath: Link {
            #if os(watchOS)
                .unknown
            #else
                .none
            #endif
        }

        /// Creates the status of a network path. If the path must first be established by a connection, it counts as
        /// reachable.
        fileprivate init(_ path: NWPath) {
            let kinds: [(type: NWInterface.InterfaceType, link: Link)] = [
                (.wiredEthernet, .wired), (.wifi, .wifi), (.cellular, .cellular),
            ]
            let kind = path.status == .unsatisfied ? nil : kinds.first { path.usesInterfaceType($0.type) }
            self.init(
                path.status == .unsatisfied ? Self.linkWithoutPath : kind?.link ?? .unknown,
                isExpensive: path.isExpensive,
                isConstrained: path.isConstrained, identity: kind.flatMap { Self.identity(of: path, over: $0.type) })
        }

        /// Returns an identifier that distinguishes the network of a path from others of the same kind.
        private static func identity(of path: NWPath, over type: NWInterface.InterfaceType) -> String? {
            guard let interface = path.availableInterfaces.first(where: { $0.type == type }) else { return nil }
            // A mobile network may change its gateway when the device moves.
            if type == .cellular { return interface.name }
            let gateways = path.gateways.compactMap { endpoint -> NWEndpoint.Host? in
                if case .hostPort(let host, _) = endpoint { host } else { nil }
            }
            // The IPv6 gateway is often known later than the IPv4 gateway of the same network, so IPv4 is preferred.
            let gateway = gateways.first { if case .ipv4 = $0 { true } else { false } } ?? gateways.first
            return gateway.map { "\($0) on \(interface.name)" } ?? interface.name
        }
    }
#endif
