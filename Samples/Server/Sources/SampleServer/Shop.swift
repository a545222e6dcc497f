import Foundation
import Hummingbird
import RunwayServer

/// What an account has ordered for its home. A real server reads it from a database.
private struct Order: ResponseEncodable {
    let id: Int, title: String, day: String, cents: Int

    static let all = [
        Order(id: 7, title: "Moving van, 20 m³", day: "2026-12-04", cents: 18_900),
        Order(id: 8, title: "Second set of keys", day: "2026-12-05", cents: 2_450),
        Order(id: 9, title: "Cleaning before moving in", day: "2026-12-05", cents: 9_500),
    ]
}

/// The shop: its pages, and the routes that the app calls for them.
extension SampleServer {
    /// The pages load files of this server only. They have no inline scripts and styles, and no other site can frame them.
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    func shopTopics(of name: String) -> [String] { ["orders/\(name)"] }

    func addShop(
        to router: Router<BasicSignedRequestContext>, _ v1: RouterGroup<BasicSignedRequestContext>, _ hub: EventHub
    ) {
        addPages(to: router)
        addOrders(to: v1, hub)
    }

    /// Adds the pages in the folder that `SAMPLE_PAGES` names, to which a web view needs no token.
    private func addPages(to router: Router<BasicSignedRequestContext>) {
        guard let pages = ProcessInfo.processInfo.environment["SAMPLE_PAGES"] else { return }
        let types = ["html": "text/html; charset=utf-8", "css": "text/css", "js": "text/javascript"]
        router.get("shop/:file") { _, context in
            let parts = try context.parameters.require("file").split(separator: ".").map(String.init)
            guard parts.count == 2, parts[0].allSatisfy(\.isLetter), let type = types[parts[1]] else {
                throw HTTPError(.notFound)
            }
            let body = try await FileIO().loadFile(path: "\(pages)/\(parts[0]).\(parts[1])", context: context)
            let fields: HTTPFields = [
                .contentType: type, .contentSecurityPolicy: Self.policy, .xContentTypeOptions: "nosniff",
                .cacheControl: "no-cache",
            ]
            return Response(status: .ok, headers: fields, body: body)
        }
    }

    /// The orders of an account, and a picture of each delivery, which is announced to all devices of the account.
    private func addOrders(to v1: RouterGroup<BasicSignedRequestContext>, _ hub: EventHub) {
        struct Page: ResponseEncodable { let items: [Order] }
        struct Change: Encodable { let order: Int, text: String }
        v1.get("orders") { request, _ in
            _ = try accounts.login(of: request)
            return Page(items: Order.all)
        }
        v1.put("orders/:id/picture") { request, context in
            let name = try accounts.login(of: request).name
            let id = try context.parameters.require("id", as: Int.self)
            guard Order.all.contains(where: { $0.id == id }) else { throw HTTPError(.notFound) }
            let length = Int(request.headers[.contentLength] ?? "") ?? .max
            guard length <= 1 << 20 else { throw HTTPError(.contentTooLarge) }
            let picture = Data(buffer: try await BodyCollector.shared.collect(request.body, upTo: 1 << 20))
            try picture.write(to: folder.appending(path: "picture-\(name)-\(id).jpg"), options: .atomic)
            let change = Change(order: id, text: "The picture has arrived.")
            let data = String(decoding: try JSONEncoder().encode(change), as: UTF8.self)
            try await hub.publish(PublishedEvent(topic: shopTopics(of: name)[0], type: "order", data: data))
            return Response(status: .noContent)
        }
    }
}
