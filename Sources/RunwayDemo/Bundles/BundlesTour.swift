#if Command
    import RunwayBundleRepository
    import RunwayBundles
    import RunwayMediator
    import RunwayStorage
    import RunwayTUF

    /// The shop page of an app comes in bundles: one that switches a native page off, a broken one, and one that is
    /// rolled out after a key of the server was rotated.
    package struct BundlesTour: Sendable {
        private enum Remote { static let nativeOrders = RemoteValue("orders.native", default: true) }

        private enum OrdersPage: String, Page {
            static let module = "orders"
            case list
        }

        private struct OrdersModule: Module {
            let native: Guard

            func screen(for page: OrdersPage, in mediator: Mediator) -> RunwayMediator.Screen {
                RunwayMediator.Screen("orders")
            }
            func guards(for page: OrdersPage) -> [Guard] { [native] }
        }

        /// The number of devices of the fleet beside the first one.
        private static let fleet = 40

        private let site: BundleSite

        /// Plays the tour.
        ///
        /// - Throws: The error of a server that can't start, of the disk, and `CancellationError` after a cancellation.
        @concurrent package static func play() async throws -> BundlesTourReport {
            try await BundleSite.serve("shop", embedded: ["shop.html": "<h1>Shop</h1>"]) { site in
                try await BundlesTour(site: site).play()
            }
        }

        private func play() async throws -> BundlesTourReport {
            var report = BundlesTourReport(fleet: Self.fleet)
            let log = ActionLog(at: site.file("actions.sqlite"))
            let store = try site.store("device") { record in
                if let action = record.action { log.record(action.name, action.properties) }
            }
            report.screen.append(try text(of: store.launch()))

            // The page of version 2 is there, and the native page of orders is switched off.
            try publish(2, "<h1>Shop of autumn</h1>", values: #"{"orders.native":{"value":false}}"#)
            await store.check()
            let good = store.launch()
            try store.ready(good.id)
            report.screen.append(try text(of: good))
            report.opened = await openedOrders(with: store.values(of: good))

            // The page of version 3 never becomes ready.
            try publish(3, "<script>throw 1</script>")
            await store.check()
            for _ in 0..<2 { report.screen.append(try text(of: store.launch())) }
            let returned = store.launch()
            try store.ready(returned.id)
            report.screen.append(try text(of: returned))
            report.condemned = store.status.condemned?.version
            report.returnedTo = returned.id.version
            await log.flush()
            report.recorded = await log.currentState.waitingCount

            // The server gets new keys, and a part of the fleet version 4.
            for role in [.targets, .timestamp] as [TopLevelRole] {
                try site.repository.rotate(role, site.keys, at: BundleSite.now)
            }
            try publish(4, "<h1>Shop of winter</h1>", share: 3_000)
            let devices = try (0..<Self.fleet).map { try site.store("device-\($0)") }
            report.chosen = await installed(devices)
            try site.repository.change(site.target, share: Rollout.bucketCount, site.keys, at: BundleSite.now)
            report.installed = await installed(devices)
            await log.close()
            report.judge()
            return report
        }

        /// Returns the number of devices that have version 4 after a check.
        private func installed(_ devices: [BundleStore]) async -> Int {
            for device in devices { await device.check() }
            return devices.filter { $0.launch().id.version == 4 }.count
        }

        private func publish(_ version: Int64, _ page: String, values: String = "{}", share: Int64 = 10_000) throws {
            let files = ["shop.html": page, "values.json": #"{"format":1,"values":\#(values)}"#]
            try site.publish(version, files, share: share)
        }

        private func text(of bundle: RunningBundle) throws -> String {
            let page = try bundle.read("shop.html").map { String(decoding: $0, as: UTF8.self) } ?? "no page"
            return "version \(bundle.id.version): \(page)"
        }

        /// Opens the native page of orders, which a value may have switched off.
        @MainActor private func openedOrders(with values: RemoteValues) -> String {
            let native = Guard("native orders") { values[Remote.nativeOrders] }
            let mediator = Mediator(fallback: .web("https://m.example.com")) { OrdersModule(native: native) }
            let shell = RecordingShell()
            mediator.shell = shell
            if case .web(let address) = mediator.open(OrdersPage.list) { return address }
            return "the native page"
        }
    }

    /// The results of a ``BundlesTour``.
    package struct BundlesTourReport: TourReport {
        /// The page that each launch showed.
        package var screen: [String] = []
        /// The address that opened in the place of the native page.
        package var opened = ""
        /// The version that was condemned.
        package var condemned: Int64?
        /// The version that runs after it.
        package var returnedTo: Int64 = 0
        /// The number of records for the action log.
        package var recorded = 0
        /// The number of devices of the fleet.
        package var fleet = 0
        /// The number of devices in a roll-out of 30 %, under rotated keys.
        package var chosen = 0
        /// The number of devices in the roll-out of 100 %.
        package var installed = 0
        /// Deviations from the expected results; empty if there are none.
        package var problems: [String] = []

        fileprivate mutating func judge() {
            let versions = screen.map { $0.prefix { $0 != ":" } }
            let isWanted =
                versions == [1, 2, 3, 3, 2].map { "version \($0)" } && opened == "https://m.example.com/orders/list"
                && condemned == 3 && returnedTo == 2 && recorded == 5 && (1..<fleet).contains(chosen)
                && installed == fleet
            if !isWanted { problems.append("The bundles: \(self); \(screen).") }
        }

        /// The counts as text.
        package var description: String {
            "version \(condemned ?? 0) condemned, \(returnedTo) runs again; the page of orders: \(opened); "
                + "\(chosen) of \(fleet) devices in 30 %, \(installed) in 100 %"
        }
    }
#endif
