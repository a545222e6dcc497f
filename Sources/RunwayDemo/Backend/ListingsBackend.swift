#if Command
    import Hummingbird
    import HummingbirdCore
    package import Logging
    import NIOCore
    package import RunwayServer

    /// The demo's server: property listings from a seed, through the APIs of three teams with different formats.
    ///
    /// | route | response |
    /// |---|---|
    /// | `GET /esf/list?city&district&price_max&page&page_size` | second-hand homes; `price_max` in 万 |
    /// | `GET /zf/list?city&district&rent_max&page&page_size` | rentals; `rent_max` in yuan a month |
    /// | `GET /xinfang/list?city&district&average_price_max&offset&limit` | new homes; the price in yuan a square metre |
    /// | `GET /esf/detail/{id}`, `/zf/detail/{id}`, `/xinfang/detail/{id}` | one listing; 404 if it does not exist |
    /// | `POST /member/login`, `POST /member/token` | an access token: for a name, or for a refresh token |
    /// | `GET /member/favourites?folder` | three rentals in a member's folder; needs an access token |
    /// | `POST /_batch` | several of these requests in one |
    /// | `GET /slow/list` | as `/esf/list`, a second late |
    /// | `GET /failing/list?status` | that status, or 500 and 503 by turns |
    /// | `GET /failing/truncated` | JSON that ends in its middle |
    /// | `GET /failing/envelope?team&error` | status 200 with an error inside |
    ///
    /// Lists, details, favourites and `/slow/list` have the parameter `delay_ms`, at most 5000, which delays their
    /// response; the delay ends when the caller disconnects. Pages have 30 listings by default and at most 100.
    package struct ListingsBackend: Sendable {
        /// The protocol of connections to the backend.
        package enum Security: Sendable {
            /// TLS 1.2 or later with a ``DemoCertificate``, HTTP/2 or HTTP/1.1 as the client likes.
            case tls
            /// HTTP/1.1 without TLS.
            case plain
        }

        /// The number of listings of each kind by default.
        package static let defaultListingsPerKind = 1200

        /// The certificate that clients must trust; `nil` without TLS.
        package let certificate: DemoCertificate?

        let book: ListingBook
        let tokens = TokenDesk()
        let outage = Outage()
        let counter = StatisticsCounter()
        let clock: any Clock<Duration>
        private let logger: Logger

        /// Creates the listings and the certificate; the server starts with ``run(host:port:rules:onServing:)``.
        ///
        /// - Parameters:
        ///   - seed: The seed of every listing. The default is 1.
        ///   - listingsPerKind: The number of listings of each kind: second-hand homes, rentals and new homes. The
        ///     default is 1200, at least 1 and at most 50,000.
        ///   - security: The default is ``Security/tls``.
        ///   - clock: The clock of delays. The default is the continuous clock.
        ///   - logger: The server's logger. The default logs nothing.
        /// - Throws: The certificate library's error.
        package init(
            seed: UInt64 = 1,
            listingsPerKind: Int = defaultListingsPerKind,
            security: Security = .tls,
            clock: any Clock<Duration> = ContinuousClock(),
            logger: Logger = Logger(label: "runway.listings-backend", factory: { _ in SwiftLogNoOpLogHandler() })
        ) throws {
            self.certificate =
                switch security {
                case .tls: try DemoCertificate()
                case .plain: nil
                }
            self.book = ListingBook(ListingCatalogue(seed: seed, listingsPerKind: listingsPerKind))
            self.clock = clock
            self.logger = logger
        }

        /// The requests that the backend has received so far.
        package var statistics: BackendStatistics { counter.current }

        /// Serves until its task is cancelled or its service group shuts down, then closes every connection at once and
        /// returns.
        ///
        /// - Parameters:
        ///   - host: The address to bind to. The default is the loopback address, which no other machine can reach.
        ///   - port: The port to bind to. The default, 0, is any free port.
        ///   - rules: The hosts and web pages whose requests are accepted. The default is the loopback address, and no
        ///     web page.
        ///   - onServing: Called once, when the port is bound. The function must return immediately: requests wait for
        ///     it.
        /// - Throws: The system's error if the address can't be bound.
        package func run(
            host: String = "127.0.0.1",
            port: Int = 0,
            rules: HostRules = .loopback,
            onServing: @escaping @Sendable (ServingBackend) -> Void = { _ in }
        ) async throws {
            let connections = OpenConnections()
            let application = Application(
                router: GuardedRouter(router(), rules),
                server: .bounded(
                    tls: try certificate?.serverConfiguration(), cuttingIn: connections,
                    onAccepting: counter.connectionAccepted),
                configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
                onServerRunning: { channel in
                    connections.add(channel)
                    let boundPort = channel.localAddress?.port ?? port
                    onServing(
                        ServingBackend(host: host, port: boundPort, certificate: certificate, counter: counter))
                },
                logger: logger)
            do {
                try await connections.run { try await application.run() }
            } catch {
                guard Task.isCancelled else { throw error }
                // The backend ends by cancellation; the errors of its parts during the teardown are not relevant.
                logger.debug("listings backend cancelled", metadata: ["error": "\(type(of: error))"])
            }
        }
    }
#endif
