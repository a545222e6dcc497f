#if Command
    import HTTPTypes
    import Hummingbird
    import NIOCore
    import RunwayServer
    import RunwaySignatures
    import Synchronization

    /// A server for orders that accepts only signed requests. It uses a free loopback port, TLS and HTTP/2.
    struct SignedBackend: Sendable {
        static let authority = "orders.example"
        /// The `tag` parameter of the app's signatures.
        static let tag = "orders-app"
        /// The session and account that the app received at its login. A real app has an access token instead.
        static let (session, account) = ("a session of anna", "anna")

        let keys = InMemoryKeyDirectory()
        let certificate: DemoCertificate
        let orders = AcceptedOrders()

        init() throws { certificate = try DemoCertificate() }

        /// Serves while `body` runs, and passes the port to `body`.
        func serve<Value>(_ body: (Int) async throws -> Value) async throws -> Value {
            let router = Router(context: OrderContext.self)
            EnrolmentRoutes(EnrolmentRules(origin: PublicOrigin(Self.authority)), keys: keys) { request, _ in
                HTTPField.Name("X-Session").flatMap { request.headers[$0] } == Self.session ? Self.account : nil
            }.add(to: router)
            var rules = SignatureRules(tag: Self.tag, origin: PublicOrigin(Self.authority))
            // This is a development server, so its refusals name the exact reason.
            rules.explainsRefusals = true
            // Nothing was signed with these new keys before the start, so all nonces are known, even if clocks differ.
            let nonces = NonceMemory(startedAt: UnixTime(seconds: 0))
            router.add(middleware: SignatureMiddleware(rules, keys: keys, nonces: nonces))
            router.post("orders") { [orders] _, context in
                let keyID = context.signer?.keyID ?? ""
                orders.add(keyID)
                return keyID
            }
            return try await BoundedServer(router, certificate: certificate).serve { try await body($1) }
        }
    }

    /// Counts the accepted orders by the signing key's identifier.
    final class AcceptedOrders: Sendable {
        /// Guards the counts.
        private let counts = Mutex<[String: Int]>([:])

        var byKey: [String: Int] { counts.withLock { $0 } }
        var total: Int { byKey.values.reduce(0, +) }

        func add(_ keyID: String) { counts.withLock { $0[keyID, default: 0] += 1 } }
    }

    /// The context of a route, with the verified signer of the request.
    private struct OrderContext: SignedRequestContext {
        var coreContext: CoreRequestContextStorage
        let remoteAddress: SocketAddress?
        var signer: VerifiedSigner?

        init(source: ApplicationRequestContextSource) {
            coreContext = CoreRequestContextStorage(source: source)
            remoteAddress = source.channel.remoteAddress
        }
    }
#endif
