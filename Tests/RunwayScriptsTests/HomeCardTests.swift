#if JavaScript
    import Foundation
    import Runway
    import RunwayBundles
    import RunwayDemo
    import RunwayJSON
    import RunwayViews
    import Testing

    @testable import RunwayScripts

    /// The demo's card of a home with the scripts of its bundle: the repository, the server, the device and the engine
    /// are real.
    @Suite(.timeLimit(.minutes(5)))
    struct HomeCardTests {
        /// A repair that reads another name than the server sends.
        private static var mistake: [String: String] {
            files("repair") { $0.replacing("body.data", with: "body.result") }
        }

        /// The published files, with another text of a script.
        private static func files(_ script: String, _ change: (String) -> String) -> [String: String] {
            var files = HomeCardFiles.published
            files["scripts/\(script).js"] = files["scripts/\(script).js"].map(change)
            return files
        }

        @Test func scriptOfTheBundleHandlesTheTap() async throws {
            try await HomeApp.run { app in
                let home = try JSONDocument(JSONEncoder().encode(await app.site.home(as: HomeCardReformer())))
                let first = try ViewDocument(cardOf: await app.launch()).tree(of: home.root)
                let tap = try #require(first.root.tap)
                let detail = try JSONDocument(Array(tap.detail))
                #expect(app.scripts.state(after: tap.name, home.root, detail.root) == nil)

                try await app.install(2, HomeCardFiles.published)
                let document = try ViewDocument(cardOf: await app.launch())
                let card = document.tree(of: home.root)
                let opened = try #require(app.scripts.state(after: tap.name, home.root, detail.root))
                let open = document.tree(of: opened.root, after: card)
                #expect(open.edits(since: card).map(\.path) == [["3"]])
                #expect(open.node(at: ["3"])?.text == home.root["address"].string)

                let closed = try #require(app.scripts.state(after: tap.name, opened.root, detail.root))
                #expect(document.tree(of: closed.root, after: open).root == card.root)
            }
        }

        @Test func cardHasItsScriptOrItsFile() async throws {
            try await HomeApp.run { app in
                let home = try JSONDocument(JSONEncoder().encode(await app.site.home(as: HomeCardReformer())))
                try await app.install(2, HomeCardFiles.published)
                let bundle = try await app.launch()
                let file = try ViewDocument(cardOf: bundle)
                let opened = try #require(app.scripts.state(after: "home.tap", home.root, home.root["id"]))
                let card = try app.card(opened.root, of: bundle)
                let address = try #require(card.node(at: ["3"]))
                #expect(address.text == home.root["address"].string && address.tap?.name == "page.open")
                let page = try JSONDocument(Array(try #require(address.tap?.detail)))
                #expect(try page.root.string == "app://homes/map?id=\(home.root["id"].require(String.self))")
                // Otherwise the script draws what the file does.
                #expect(try app.card(home.root, of: bundle).root.children.map(\.key) == ["0", "1", "2", "4"])
                #expect(!app.scripts.hasFailed("homes@\(bundle.id)"))

                try await app.install(3, Self.files("view") { $0.replacing("unitPrice.re", with: "unit.re") })
                let failing = try await app.launch()
                #expect(try app.card(opened.root, of: failing).root == file.tree(of: opened.root).root)
                #expect(app.scripts.hasFailed("homes@\(failing.id)"))
            }
        }

        @Test func rehearsedPatchRepairsTheReformer() async throws {
            try await HomeApp.run { app in
                _ = try await app.home()
                await app.scripts.flushRecordedCalls()
                let calls = RecordedCalls(Array(try Data(contentsOf: app.recordedCalls)))

                try await app.install(2, Self.mistake)
                try await app.launch()
                let failed = try await app.scripts.rehearse(calls)
                #expect(failed.calls.map(\.kind) == [.failed] && failed.calls[0].error?.file == "scripts/repair.js")

                try await app.install(3, HomeCardFiles.published)
                try await app.launch()
                // Only what the app shows wrongly is different.
                let rehearsal = try await app.scripts.rehearse(calls)
                #expect(rehearsal.calls.map(\.kind) == [.different], "\(rehearsal)")
                #expect(rehearsal.calls[0].differences.map(\.path) == ["unitPrice"])
                #expect(try await app.home() == app.site.home(as: HomeCardReformer()))
            }
        }

        @Test func patchThatThrowsIsCondemnedWithItsBundle() async throws {
            try await HomeApp.run { app in
                let native = try await app.site.home(as: HomeReformer())
                let repaired = try await app.site.home(as: HomeCardReformer())
                try await app.install(2, HomeCardFiles.published)
                let good = try await app.launch()
                #expect(try await app.home() == repaired)
                #expect(!app.scripts.hasFailed("homes@\(good.id)"))
                try app.store.ready(good.id)

                // An app whose point was closed does not report that its bundle is ready.
                try await app.install(3, Self.mistake)
                for _ in 1...2 {
                    #expect(try await app.launch().id.version == 3)
                    for _ in 1...4 { #expect(try await app.home() == native) }
                    // No record is awaited.
                    #expect(app.scripts.hasFailed("homes@\(app.store.running.id)"))
                }
                let failures = try await app.records.lines(7).filter {
                    $0.contains("@3") && $0.contains("HomeReformer")
                }
                let reasons = failures.map { $0.contains("failed threw: TypeError") ? "threw" : "closed" }
                #expect(reasons == ["threw", "threw", "threw", "closed"], "\(failures)")

                await app.store.check()
                #expect(try await app.launch().id == good.id && app.store.status.condemned?.version == 3)
                #expect(try await app.home() == repaired)
            }
        }
    }

    /// The app's reformer with a planted bug: the price of a square metre is 10,000 times too low, since prices are in
    /// units of 10,000 yuan.
    private struct HomeReformer: Reformer, Sendable {
        func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> HomeCard {
            let (home, base) = (rawData["data"], HomeCardReformer())
            var card = try base.reform(rawData, from: endpoint)
            let unitPrice = try home["esf_total_price"].require(Double.self) / home["esf_area"].require(Double.self)
            card.unitPrice = "\(Int(unitPrice)) 元/㎡"
            return card
        }
    }

    /// An app that shows the card of a home.
    private struct HomeApp {
        let site: BundleSite
        let store: BundleStore
        let scripts: ScriptRuntime
        let reformer: PatchableReformer<HomeReformer>
        let records: Records
        let recordedCalls: URL

        /// Runs the app beside its server.
        static func run(_ use: (HomeApp) async throws -> Void) async throws {
            try await BundleSite.serveCard(seed: 1) { site in
                let (records, recordedCalls) = (Records(), site.file("calls.jsonl"))
                let scripts = try ScriptRuntime(
                    marker: site.file("marker"), build: "1", recordedCalls: recordedCalls, deadlines: .long
                ) { records.add($0) }
                try await use(
                    HomeApp(
                        site: site, store: site.store("device"), scripts: scripts,
                        reformer: scripts.patchable(HomeReformer(), version: 1), records: records,
                        recordedCalls: recordedCalls))
            }
        }

        /// Publishes a version and installs it on the device.
        func install(_ version: Int64, _ files: [String: String]) async throws {
            try site.publish(version, files)
            await store.check()
        }

        /// Launches the installed version, with its scripts.
        @discardableResult func launch() async throws -> RunningBundle {
            let bundle = store.launch()
            if bundle.paths.contains(where: { $0.hasPrefix("scripts/") }) {
                try await scripts.load(ScriptBundle(bundle, name: "homes", runtime: "1"))
            }
            return bundle
        }

        /// Draws a card by the script of its bundle, or as the bundle's file does.
        func card(_ home: JSONValue, of bundle: RunningBundle) throws -> ViewTree {
            let skin = try ViewSkin(JSONDocument(Array(bundle.read("skin.json") ?? Data())).root)
            let drawn = scripts.view("card", of: home).flatMap { try? ViewDocument($0.root, skin: skin) }
            return try (drawn ?? ViewDocument(cardOf: bundle)).tree(of: home)
        }

        /// Loads the home, and converts it as the app does.
        func home() async throws -> HomeCard { try await site.home(as: reformer) }
    }
#endif
