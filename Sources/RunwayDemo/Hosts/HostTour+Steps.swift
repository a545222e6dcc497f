#if Command
    import Runway
    import RunwayTestServer
    import RunwayTesting
    import RunwayTransport

    extension HostTour {
        func meetTheHost() async throws {
            try await step("The first call: no address was measured", shouldWin: .near) {
                try await call(NearbyHomes())
            } why: { _ in
                "one more is dialled beside the first of the list, which delays no call; its handshake completed first"
            }
        }

        func measureAll() async throws {
            let report = try await HostProbe(configuration: configuration, timeout: probeTimeout)
                .run(NearbyService.host, port: port)
            // The report also has addresses from the lookup of the host's name. The tour checks only the listed ones.
            let listed = report.entries.filter { $0.source == .listed }
            let texts = listed.map { "\($0.address) \($0.failure ?? $0.total?.text ?? "")" }
            rows.append(
                HostTourReport.Row(
                    title: "A probe measures all of them at once", dialled: paths.map(\.address),
                    won: listed.first.map { "\($0.address)" },
                    milliseconds: listed.compactMap(\.total).max()?.wholeMilliseconds ?? 0,
                    why: texts.joined(separator: "; ")))
            if listed.first?.address != address(.near) { problems.append("the probe found another address nearer") }
            if listed.first(where: { $0.address == address(.dead) })?.failure == nil {
                problems.append("the probe did not find out that \(path(.dead).address) is dead")
            }
        }

        func callAgain() async throws {
            try await step("The next call", shouldWin: .near) {
                try await call(NearbyHomes(city: "guangzhou"))
            } why: {
                $0.isReused == true ? "the connection stays open" : "the lowest latency wins"
            }
        }

        func loseTheNearestDuringACall() async throws {
            try await path(.near).set(.silent)
            try await step("The nearest falls silent: a call is hedged", shouldWin: .middle) {
                try await call(UrgentHomes())
            } why: { [records] _ in
                let hedges = records.records.last?.decisions(of: HedgeDecision.self) ?? []
                return hedges.map(\.description).joined(separator: "; ")
            }
        }

        func loseTheNearestForGood() async throws {
            let near = path(.near).address
            try await path(.near).set(.refusing)
            try await step("The nearest refuses every connection", shouldWin: .middle) {
                try await call(NearbyHomes(city: "shenzhen"))
            } why: { [self] wire in
                // If a new connection was needed while the address was silent, the transport already assumes that the
                // address is unreachable, and does not connect to it.
                guard wire.dialed.contains(where: { $0.address == near }) else {
                    return "\(near) was silent, and comes after the others; the next nearest has taken its place"
                }
                let rest = ban(.near).map { ", and is banned for \($0.text)" } ?? ""
                if rest.isEmpty { problems.append("\(near) died, and is not banned") }
                return "\(near) refused\(rest); the next nearest takes its place at once"
            }
        }

        func comeToAnotherNetwork() async throws {
            try await path(.near).set(.passing(PathConditions(roundTrip: .milliseconds(20))))
            let warmed = path(.near).totalConnectionCount
            try await step("On another network the nearest is back", shouldWin: .near) {
                status.set(.cellular)
                // The transport measures all addresses, and then connects to the best one. The dead address takes
                // longest.
                try? await waitUntil(within: .seconds(10)) { self.path(.near).totalConnectionCount >= warmed + 2 }
                return try await call(NearbyHomes(city: "chengdu"))
            } why: {
                let found = $0.isReused == true ? "a warm connection" : "one that was being made already"
                return "every address is measured anew, and the nearest connected to; the call found \(found)"
            }
        }

        /// An interceptor between the app and the backend presents a certificate whose authority the device trusts.
        func meetAnInterceptor() async throws {
            guard let certificate = serving.certificate else { return }
            try await withListingsBackend(ListingsBackend(seed: 1, listingsPerKind: 1)) { interceptor in
                var configuration = configuration
                configuration.hosts = nil
                configuration.trustPolicy.roots = .certificates(
                    pem: [certificate, interceptor.certificate].compactMap { $0?.authorityPEM })
                let backup = try DemoCertificate()
                configuration.trustPolicy.pins = [
                    try PublicKeyPins(host: NearbyService.host, pins: [certificate.serverPin, backup.serverPin])
                ]
                let careful = NetworkLayer(
                    name: "pinned", transport: try NIOTransport(configuration: configuration), sinks: [records])
                for backend in [interceptor, serving] {
                    careful.configure(NearbyService.self) {
                        $0.environment = "loopback"
                        $0.baseURLs["loopback"] = "https://\(NearbyService.host):\(backend.port)"
                    }
                    let count = records.records.count
                    let error = await careful.failure(of: NearbyHomes())
                    let isRefused = error?.kind == .notTrusted && error?.sending == .notSent
                    if isRefused != (backend.port == interceptor.port) {
                        problems.append("a pin judged the wrong server: \(error.map { "\($0)" } ?? "no error")")
                    }
                    guard let error else { continue }
                    let requests = interceptor.statistics.total.requests
                    if requests > 0 { problems.append("the interceptor saw \(requests) requests") }
                    let record = try await records.records(count: count + 1).last
                    rows.append(
                        HostTourReport.Row(
                            title: "An interceptor with a trusted certificate", dialled: ["127.0.0.1"],
                            won: nil, milliseconds: (record?.duration ?? .zero).wholeMilliseconds,
                            why: error.detail + " It saw \(requests) requests."))
                }
                await careful.flushRecords()
            }
        }

        private func step(
            _ title: String, shouldWin route: Route, _ play: () async throws -> (wire: WireRecord?, time: Duration),
            why: (WireRecord) -> String
        ) async throws {
            let before = paths.map(\.totalConnectionCount)
            let (wire, time) = try await play()
            // Silent and refusing addresses accept no connections that could be counted. The record of a new connection
            // lists the dialled addresses.
            let tried = wire?.isReused == true ? [] : (wire?.dialed ?? []).map(\.address)
            let dialled = Route.allCases.filter { route in
                paths[route.rawValue].totalConnectionCount > before[route.rawValue]
                    || tried.contains(path(route).address)
            }
            let winner = wire?.address.map { String($0.prefix { $0 != ":" }) }
            rows.append(
                HostTourReport.Row(
                    title: title, dialled: dialled.map { path($0).address }, won: winner,
                    milliseconds: time.wholeMilliseconds, why: why(wire ?? WireRecord())))
            if winner != path(route).address {
                problems.append("\(title): \(winner ?? "no address") won, and \(path(route).address) should have")
            }
        }

        /// Makes a call. Returns the wire record of its attempt, and the duration of the call.
        private func call(_ endpoint: some Endpoint) async throws -> (wire: WireRecord?, time: Duration) {
            let count = records.records.count
            let failure = await layer.failure(of: endpoint)
            try Task.checkCancellation()
            if let error = failure {
                problems.append("a call failed: \(error)")
            }
            let record = try await records.records(count: count + 1).last
            return (record?.attempts.last { $0.status != nil }?.wire, record?.duration ?? .zero)
        }
    }

    extension Duration {
        fileprivate var wholeMilliseconds: Int {
            Int(clamping: components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
        }
    }
#endif
