import Foundation
import Hummingbird
import RunwayServer

/// A home to rent.
private struct Rental: ResponseEncodable {
    let id: Int, city: String, title: String

    static let all = (1...100).map {
        Rental(id: $0, city: ["Leiden", "Ghent", "Lyon", "Turin"][$0 % 4], title: "Home \($0)")
    }

    static func named(in context: BasicSignedRequestContext) throws -> Rental {
        let id = context.parameters.get("id", as: Int.self)
        guard let rental = all.first(where: { $0.id == id }) else { throw HTTPError(.notFound) }
        return rental
    }
}

extension SampleServer {
    /// Tokens for a name and its password, or for a refresh token.
    func addTokens(to v1: RouterGroup<BasicSignedRequestContext>) {
        struct Proof: Decodable { var name, password, refreshToken: String? }
        struct Grant: ResponseEncodable { let access_token, refresh_token: String, expires_in = Accounts.accessSeconds }
        v1.post("tokens") { request, context in
            guard Int(request.headers[.contentLength] ?? "") ?? .max <= 4096 else { throw HTTPError(.contentTooLarge) }
            var request = request
            request.body = RequestBody(buffer: try await BodyCollector.shared.collect(request.body, upTo: 4096))
            let proof = try await request.decode(as: Proof.self, context: context)
            var account = proof.refreshToken.flatMap { accounts.login("refresh", by: $0)?.name }
            if let name = proof.name, accounts.accepts(proof.password ?? "", of: name) { account = name }
            guard let account else { throw HTTPError(.unauthorized, headers: [.wwwAuthenticate: "Bearer"]) }
            return Grant(
                access_token: accounts.token("access", for: account),
                refresh_token: accounts.token("refresh", for: account, seconds: 30 * 86_400))
        }
    }

    /// Homes, which anyone may see, and their films, which accounts send: each up to four at a time, in folders that are its places.
    func addRentals(to v1: RouterGroup<BasicSignedRequestContext>) {
        struct Page: ResponseEncodable { let items: [Rental], total: Int }
        v1.get("rentals") { request, _ in
            let query = request.uri.queryParameters
            let found = Rental.all.filter { rental in query["city"].map { $0 == rental.city } ?? true }
            let (offset, limit) = (query.get("offset", as: Int.self) ?? 0, query.get("limit", as: Int.self) ?? 20)
            return Page(
                items: Array(found.dropFirst(max(0, offset)).prefix(max(1, min(limit, 100)))), total: found.count)
        }
        v1.get("rentals/:id") { _, context in try Rental.named(in: context) }
        v1.get("rentals/:id/film") { _, context in
            let body = try await FileIO().loadFile(path: film(of: try Rental.named(in: context)), context: context)
            return Response(status: .ok, headers: [.contentType: "video/mp4"], body: body)
        }
        v1.put("rentals/:id/film") { request, context in
            let (name, rental) = (try accounts.login(of: request).name, try Rental.named(in: context))
            let length = Int(request.headers[.contentLength] ?? "") ?? .max
            guard length <= 1 << 30 else { throw HTTPError(.contentTooLarge) }
            let places = (1...4).map { "\(folder.path)/films/parts/\(name)-\($0)" }
            guard let place = places.first(where: { mkdir($0, 0o700) == 0 }) else { throw HTTPError(.tooManyRequests) }
            defer { try? FileManager.default.removeItem(atPath: place) }
            try await FileIO().writeFile(contents: request.body, path: "\(place)/film", context: context)
            return Response(status: rename("\(place)/film", film(of: rental)) == 0 ? .noContent : .internalServerError)
        }
    }

    private func film(of rental: Rental) -> String { "\(folder.path)/films/\(rental.id).mp4" }

    /// Appointments, which a device of the account signs. Each is made once, and announced to all devices of the account.
    func addViewings(to viewings: RouterGroup<BasicSignedRequestContext>, _ hub: EventHub) {
        struct Viewing: Codable { var rental: Int }
        viewings.post { request, context in
            let viewing = try await request.decode(as: Viewing.self, context: context)
            guard let owner = context.signer?.owner else { throw HTTPError(.unauthorized) }
            let data = String(decoding: try JSONEncoder().encode(viewing), as: UTF8.self)
            try await hub.publish(PublishedEvent(topic: "viewings/\(owner)", type: "viewing", data: data))
            return Response(status: .created)
        }
    }
}
