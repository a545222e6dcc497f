import Foundation
import Observation
import Runway
import RunwayBundles
import RunwayJSON
import RunwayMediator
import RunwayScripts
import RunwayViews

/// The values that the card of a home shows, by the names in the documents of `Samples/Card`.
struct HomeCard: Codable, Sendable {
    var id: String
    var title: String
    var price: String
    var unitPrice = ""
    var place: String
    var address: String
}

/// Converts a home to the values of its card. A script may repair it.
struct HomeCardReformer: Reformer, Sendable {
    func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> HomeCard {
        HomeCard(
            id: "\(try rawData["id"].require(Int.self))", title: try rawData["title"].require(),
            price: rawData["rent"].int.map { "\($0) a month" } ?? "", place: rawData["city"].string ?? "",
            address: rawData["address"].string ?? "")
    }
}

/// The card of homes as the running bundle describes it, with the scripts that handle its taps.
///
/// The resources of the app have the folder `Card`, with the files of `Samples/Card/embedded`, and `root.json`, the file
/// `metadata/1.root.json` of the repository. The team publishes `Samples/Card/published` by `runway bundle publish`.
@MainActor @Observable final class HomeCards {
    private static let repository = "https://cdn.example.com/homes"
    /// The version of the files in the resources.
    private static let embeddedVersion: Int64 = 1

    /// The card as a bundle describes it.
    struct Design: Sendable {
        let bundle: BundleID
        let document: ViewDocument
        let skin: ViewSkin
    }

    /// The newest card; `nil` if the bundle has none that can be read.
    private(set) var design: Design?
    /// Converts homes, unless a script of the bundle does.
    let reformer: PatchableReformer<HomeCardReformer>
    private let store: BundleStore
    private let scripts: ScriptRuntime
    private let mediator: Mediator

    /// Creates the cards. Call ``run()`` to show them.
    init(over network: NetworkLayer, in mediator: Mediator) throws {
        let resources = Bundle.main.bundleURL
        let folder = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
        store = try BundleStore(
            in: folder.appending(path: "Card"),
            embedded: EmbeddedBundle(resources.appending(path: "Card"), version: Self.embeddedVersion),
            from: BundleSource(
                Self.repository, root: Array(try Data(contentsOf: resources.appending(path: "root.json"))),
                bundle: "homes"),
            on: network)
        // Also the lines of the scripts' consoles.
        scripts = try ScriptRuntime(marker: folder.appending(path: "scripts.marker"), build: "1") { print($0) }
        reformer = scripts.patchable(HomeCardReformer(), version: 1)
        self.mediator = mediator
    }

    /// Shows each version that is installed while the app runs, until the task is cancelled.
    func run() async {
        await launch()
        async let checks: Void = store.run()
        for await status in store.statuses where status.next != nil { await launch() }
        await checks
    }

    private func launch() async {
        let bundle = store.launch()
        do {
            func bytes(_ path: String) throws -> [UInt8] { Array(try bundle.read(path) ?? Data()) }
            let skin = try ViewSkin(JSONDocument(bytes("skin.json")).root)
            let document = try ViewDocument(bytes("card.json"), skin: skin)
            if bundle.paths.contains(where: { $0.hasPrefix("scripts/") }) {
                try await scripts.load(ScriptBundle(bundle, name: "homes", runtime: "1"))
            } else {
                await scripts.unload("homes")
            }
            design = Design(bundle: bundle.id, document: document, skin: skin)
        } catch {
            // The former card stays. A bundle that is launched twice without being ready is condemned.
        }
    }

    /// Makes the tree of a card outside the main actor: as a script draws it, or as `card.json` describes it.
    @concurrent nonisolated func tree(
        of card: JSONDocument, in design: Design, after former: ViewTree?
    ) async -> ViewTree {
        let drawn = scripts.view("card", of: card.root).flatMap { try? ViewDocument($0.root, skin: design.skin) }
        return (drawn ?? design.document).tree(of: card.root, after: former)
    }

    /// Reports the bundle as ready when a card has appeared, unless one of its scripts has failed.
    func didShow(_ design: Design) {
        if !scripts.hasFailed("homes@\(design.bundle)") { try? store.ready(design.bundle) }
    }

    /// Ends what the scripts remember of the account that signs out.
    func signOut() async { await scripts.beginGeneration() }

    /// Returns the card after an event, which opens a page, or which a script handles.
    func card(after event: ViewEvent, _ card: JSONDocument) -> JSONDocument {
        guard let detail = try? JSONDocument(Array(event.detail)) else { return card }
        if event.name == "page.open" {
            mediator.open(detail.root.string ?? "", from: .pages)
            return card
        }
        return scripts.state(after: event.name, card.root, detail.root) ?? card
    }
}
