#if canImport(Network)
    import Dispatch
    import Network
    import Synchronization

    /// The network status that Apple's systems report.
    ///
    /// Until the system has reported for the first time, moments after it was made, the status is unknown.
    public final class PathNetworkStatus: NetworkStatusSource {
        private let monitor = NWPathMonitor()
        private let status = SettableNetworkStatus()

        /// Starts to watch.
        public init() {
            monitor.pathUpdateHandler = { [status] path in status.set(NetworkStatus(path)) }
            monitor.start(queue: DispatchQueue(label: "runway.network-status"))
        }

        deinit { monitor.cancel() }

        /// The status that the system reported last.
        public var current: NetworkStatus { status.current }

        /// Calls `onChange` after every report that differs from the one before, on a queue of its own.
        public func observe(_ onChange: @escaping @Sendable () -> Void) -> NetworkStatusObservation {
            status.observe(onChange)
        }
    }

    extension NetworkStatus {
        /// What a path of the system's says. A path that a connection would have to establish first counts as there.
        fileprivate init(_ path: NWPath) {
            let link: Link =
                if path.status == .unsatisfied {
                    .none
                } else if path.usesInterfaceType(.wiredEthernet) {
                    .wired
                } else if path.usesInterfaceType(.wifi) {
                    .wifi
                } else if path.usesInterfaceType(.cellular) {
                    .cellular
                } else {
                    .unknown
                }
            self.init(link, isExpensive: path.isExpensive, isConstrained: path.isConstrained)
        }
    }
#endif
