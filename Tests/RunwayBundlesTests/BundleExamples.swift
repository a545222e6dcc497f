import Foundation
import Runway
import RunwayBridge
import RunwayBundles

/// The examples of the documentation.
private func openShop(
    in folder: URL, pages: URL, root: [UInt8], on network: NetworkLayer
) throws -> (Bridge, Data?, Task<Void, Never>) {
    let store = try BundleStore(
        in: folder, embedded: EmbeddedBundle(pages, version: 12),
        from: BundleSource("https://cdn.example.com/shop", root: root, bundle: "shop"), on: network)
    let checking = Task { await store.run() }
    let bundle = store.running
    let isReady = Command("shop.ready") { (_: NoValue, _) in
        try store.ready(bundle.id)
        return NoValue()
    }
    let bridge = Bridge(
        capabilities: [Capability(.bundle("shop"), commands: [isReady])],
        bundles: [BundleFiles("shop") { try bundle.read($0) }])
    return (bridge, try readPage(in: folder, pages: pages, root: root, on: network), checking)
}

private func readPage(in folder: URL, pages: URL, root: [UInt8], on network: NetworkLayer) throws -> Data? {
    let store = try BundleStore(
        in: folder, embedded: EmbeddedBundle(pages, version: 12),
        from: BundleSource("https://cdn.example.com/shop", root: root, bundle: "shop"), on: network)
    let page = try store.running.read("index.html")
    return page
}
