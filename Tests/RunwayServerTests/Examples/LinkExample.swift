import Foundation
import Hummingbird
import RunwayServer
import RunwaySignatures

import struct Crypto.SymmetricKey

// The examples in the doc comments of SiteAssociationRoute and WebSignIn, line by line. They are compiled and not run.

func addAssociation(to router: Router<BasicRequestContext>) throws {
    let document = try Data(contentsOf: URL(fileURLWithPath: "apple-app-site-association"))
    try SiteAssociationRoute(Array(document)).add(to: router)
}

struct WebSessions: Sendable {
    func begin(below session: String) async throws -> String? { nil }
}

func addWebSignIn(
    to site: Router<BasicRequestContext>, _ api: RouterGroup<BasicRequestContext>, key: SymmetricKey,
    webSessions: WebSessions, session: @escaping @Sendable (Request) -> String?
) {
    let signIn = WebSignIn(origin: "https://m.example.com", codes: ServerNonces(key: key))
    signIn.addCodes(to: api) { request, _ in session(request) }
    signIn.addSignIn(to: site) { session, _ in try await webSessions.begin(below: session) }
}

func addWebSignOut(
    to site: Router<BasicRequestContext>, from api: RouterGroup<BasicRequestContext>, _ signIn: WebSignIn,
    session: @escaping @Sendable (Request) -> String?
) {
    let webSessions = WebSessionMemory()
    signIn.addSignIn(to: site) { session, _ in webSessions.begin(below: session) }
    signIn.addSignOut(from: api) { request, _ in
        session(request)
    } end: { session, _ in
        webSessions.end(below: session)
    }
}
