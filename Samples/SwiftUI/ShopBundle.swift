import Foundation
import Runway
import RunwayBridge
import RunwayBundles
import RunwayMediator
import RunwayStorage

/// The pages of the shop in bundles: a copy in the app, and newer versions that the team publishes by `runway bundle`.
///
/// The resources of the app have the folder `Shop`, with the files of `Samples/Web`, and `root.json`, which is
/// `metadata/1.root.json` of the repository.
@MainActor final class ShopBundle {
    /// A value that a bundle can change: whether the app's own screen shows the orders, or the page of the shop.
    static let nativeOrders = RemoteValue("orders.native", default: true)
    /// The version of the files in the resources.
    private static let embeddedVersion: Int64 = 1
    private static let repository = "https://cdn.example.com/shop"

    /// The address of the page, for `ShopView`.
    static let page = "runway-bundle://shop/shop.html"

    /// Serves the files of the bundle that runs until the app launches again.
    let bridge: Bridge
    private let values: RemoteValues
    private let checking: Task<Void, Never>

    /// - Parameter log: Records which bundles were installed and condemned, for the team.
    init(over network: NetworkLayer, in mediator: Mediator, log: ActionLog) throws {
        let resources = Bundle.main.bundleURL
        var options = BundleOptions()
        options.downloads = .viewsAndScripts
        let store = try BundleStore(
            in: FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
                .appending(path: "Shop"),
            embedded: EmbeddedBundle(resources.appending(path: "Shop"), version: Self.embeddedVersion),
            from: BundleSource(
                Self.repository, root: Array(try Data(contentsOf: resources.appending(path: "root.json"))),
                bundle: "shop"),
            on: network, options: options
        ) { record in
            if let action = record.action { log.record(action.name, action.properties) }
        }
        let bundle = store.running
        values = store.values(of: bundle)
        bridge = Shop.bridge(
            for: .bundle("shop"), over: network, in: mediator,
            bundles: [BundleFiles("shop") { try bundle.read($0) }],
            sinks: [Readiness(store: store, bundle: bundle.id)])
        checking = Task { await store.run() }
    }

    deinit { checking.cancel() }

    /// The condition for the screen of orders: while it is shut, the mediator shows the web page at the same path.
    var native: Guard { Guard("native orders") { [values] in values[Self.nativeOrders] } }

    /// A page that has listed orders does what it must: its bundle is ready.
    private struct Readiness: BridgeSink {
        let store: BundleStore
        let bundle: BundleID

        func receive(_ record: BridgeRecord) {
            if record.command == "orders.list", record.error == nil { try? store.ready(bundle) }
        }
    }
}
