#if Command
    import RunwayBundles
    import RunwayViews

    /// The card of a home is a view described by JSON. A bundle brings a card with a marquee, which the app has never
    /// contained, while the app runs.
    package enum ViewsTour {
        /// Plays the tour.
        ///
        /// - Parameter seed: The seed of the home. The default is 1.
        /// - Throws: The error of a server that can't start, of the disk, and `CancellationError` after a cancellation.
        @concurrent package static func play(seed: UInt64 = 1) async throws -> ViewsTourReport {
            try await BundleSite.serveCard(seed: seed) { site in
                let store = try site.store("device")
                let home = try await site.home(as: HomeCardReformer())
                let first = try ViewDocument(cardOf: store.running).tree(encoding: home)

                try site.publish(2, HomeCardFiles.published)
                await store.check()
                let next = try ViewDocument(cardOf: store.launch()).tree(encoding: home)
                let edits = next.edits(since: first)
                let inserted = edits.compactMap { next.node(at: $0.path) }.flatMap(\.texts)
                var report = ViewsTourReport(
                    version: store.running.id.version, screen: first.root.texts, inserted: inserted,
                    nodes: next.root.count, edits: edits.count)
                // A renderer knows the animation as an attribute, and no component for it.
                let isAnimated = [first, next].map { $0.html().contains("@keyframes") }
                let isWanted =
                    report.version == 2 && report.screen == [home.title, home.price, home.unitPrice, home.place]
                    && edits.map(\.path) == [["4"]] && edits[0].action == .insert(after: "2")
                    && isAnimated == [false, true]
                    && next.root.tap?.name == "home.tap"
                if !isWanted { report.problems.append("The card: \(report); \(edits); \(isAnimated).") }
                return report
            }
        }
    }

    extension ViewNode {
        /// The texts of a node and of all below it.
        fileprivate var texts: [String] { (text.isEmpty ? [] : [text]) + children.flatMap(\.texts) }

        /// The number of the node and of all below it.
        fileprivate var count: Int { children.reduce(1) { $0 + $1.count } }
    }

    /// The results of a ``ViewsTour``.
    package struct ViewsTourReport: TourReport {
        /// The version of the bundle that the running app has installed and launched.
        package var version: Int64
        /// The texts of the card that the app contains.
        package var screen: [String]
        /// The texts of the nodes that came with the bundle.
        package var inserted: [String]
        /// The number of nodes of the new card.
        package var nodes: Int
        /// The number of edits that make the new card of the former one.
        package var edits: Int
        /// Deviations from the expected results; empty if there are none.
        package var problems: [String] = []

        /// The counts as text.
        package var description: String { "version \(version): \(nodes) nodes, by \(edits) edit" }
    }
#endif
