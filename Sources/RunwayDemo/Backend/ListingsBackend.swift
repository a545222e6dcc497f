#if Command
    import Hummingbird
    package import RunwayServer
    import Synchronization

    /// The server of the demo. Serves generated property listings through the APIs of three teams with different
    /// formats.
    ///
    /// | route | response |
    /// |---|---|
    /// | `GET /esf/list?city&district&price_max&page&page_size` | second-hand homes; `price_max` in 万 |
    /// | `GET /zf/list?city&district&rent_max&page&page_size` | rentals; `rent_max` in yuan a month |
    /// | `GET /xinfang/list?city&district&average_price_max&offset&limit` | new homes; the price in yuan per m² |
    /// | `GET /esf/detail/{id}`, `/zf/detail/{id}`, `/xinfang/detail/{id}` | one listing; 404 if it does not exist |
    /// | `POST /member/login`, `POST /member/token` | an access token: for a name, or for a refresh token |
    /// | `GET /member/favourites?folder` | three rentals in a member's folder; needs an access token |
    /// | `POST /_batch` | several of these requests in one |
    /// | `GET /slow/list` | as `/esf/list`, a second late |
    /// | `GET /failing/list?status` | that status, or 500 and 503 by turns |
    /// | `GET /failing/truncated` | JSON that ends in its middle |
    /// | `GET /failing/envelope?team&error` | status 200 with an error inside |
    ///
    /// Lists, details, favourites and `/slow/list` accept the parameter `delay_ms`, at most 5000. It delays the
    /// response; the delay ends early if the caller disconnects. Pages have 30 listings by default and at most 100.
    package final class ListingsBackend: Sendable {
        package static let defaultListingsPerKind = 1200

        /// The certificate that clients have to trust; `nil` without TLS.
        package let certificate: DemoCertificate?

        let tokens = TokenDesk()
        let counter = StatisticsCounter()
        let clock: any Clock<Duration>
        /// Guards the listings, which may change while they are served.
        private let listings: Mutex<ListingCatalogue>
        private let outage = Atomic(false)

        /// Creates the listings and the certificate. Call ``run(host:port:rules:onServing:)`` to start the server.
        ///
        /// - Parameters:
        ///   - seed: The seed of all listings. The default is 1.
        ///   - listingsPerKind: The number of second-hand homes, of rentals, and of new homes. The default is 1200, the
        ///     minimum 1, and the maximum 50,000.
        ///   - usesTLS: Whether connections use TLS 1.2 or later with a ``DemoCertificate``, and HTTP/2 or HTTP/1.1 as
        ///     the client chooses. If `false`, they use HTTP/1.1 without TLS. The default is `true`.
        ///   - clock: The clock for delays. The default is the continuous clock.
        /// - Throws: The certificate library's error.
        package init(
            seed: UInt64 = 1, listingsPerKind: Int = defaultListingsPerKind, usesTLS: Bool = true,
            clock: any Clock<Duration> = ContinuousClock()
        ) throws {
            certificate = usesTLS ? try DemoCertificate() : nil
            listings = Mutex(ListingCatalogue(seed: seed, listingsPerKind: listingsPerKind))
            self.clock = clock
        }

        /// The counts of the requests that the backend has received so far.
        package var statistics: BackendStatistics { counter.current }

        /// The current listings. Each response is made from one such snapshot.
        var catalogue: ListingCatalogue { listings.withLock { $0 } }

        func apply(_ edit: ListingCatalogue.Edit) { listings.withLock { $0.apply(edit) } }

        /// Whether the backend responds to every request with status 503.
        var isDown: Bool {
            get { outage.load(ordering: .acquiring) }
            set { outage.store(newValue, ordering: .releasing) }
        }

        /// Serves until its task is cancelled or its service group shuts down. Then closes all connections at once.
        ///
        /// - Parameters:
        ///   - host: The address to bind to. The default is the loopback address, which no other machine can reach.
        ///   - port: The port to bind to. The default, 0, lets the system choose a free port.
        ///   - rules: The hosts and web pages whose requests are accepted. The default is the loopback address only.
        ///   - onServing: Called once, when the server listens. It must return immediately, since requests wait for it.
        /// - Throws: The system's error if the address can't be bound.
        package func run(
            host: String = "127.0.0.1", port: Int = 0, rules: HostRules = .loopback,
            onServing: @escaping @Sendable (ServingBackend) -> Void = { _ in }
        ) async throws {
            let server = BoundedServer(
                GuardedRouter(router(), rules), host: host, port: port, certificate: certificate,
                onAccepting: counter.connectionAccepted)
            try await server.run { [certificate, counter] url, port in
                onServing(
                    ServingBackend(host: host, port: port, baseURL: url, certificate: certificate, counter: counter))
            }
        }
    }

    /// A running ``ListingsBackend``.
    package struct ServingBackend: Sendable {
        /// The address that the backend is bound to, such as `127.0.0.1`.
        package let host: String

        /// The port that the backend is bound to, never 0.
        package let port: Int

        /// The base of all URLs, such as `https://127.0.0.1:40123`, without a slash at the end.
        package let baseURL: String

        /// The certificate that clients have to trust; `nil` without TLS.
        package let certificate: DemoCertificate?

        let counter: StatisticsCounter

        /// The counts of the requests that the backend has received so far.
        package var statistics: BackendStatistics { counter.current }
    }

    /// Serves listings on a free port of the loopback while `body` runs; when it returns, no connection, task or port
    /// is left.
    ///
    /// ```swift
    /// try await withListingsBackend(ListingsBackend(seed: 7)) { backend in
    ///     print(backend.baseURL)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - backend: The backend.
    ///   - body: Runs in the caller's isolation as soon as the server accepts requests.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of `body`, or of a backend that can't start.
    package func withListingsBackend<Value>(
        _ backend: ListingsBackend, _ body: (ServingBackend) async throws -> Value
    ) async throws -> Value {
        try await whileServing({ try await backend.run(onServing: $0) }, body)
    }
#endif
