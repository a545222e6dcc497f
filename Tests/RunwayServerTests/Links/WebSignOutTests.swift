import HTTPTypes
import Hummingbird
import Runway
import RunwayMediator
import RunwayServer
import RunwayTransport
import Synchronization
import Testing

/// An app signs out of the site, over a real connection, by both halves.
@Suite(.timeLimit(.minutes(10)))
struct WebSignOutTests {
    private enum Shop: APIService {
        static let environments: [ServiceEnvironment: String] = [:]
        static let credentials: (any Credentials)? = Login()
    }

    /// The app's tokens are not renewed.
    private struct Login: Credentials {
        func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken {
            throw NetworkError(.needsLogin, in: .authorizing, "The token is not renewed.")
        }
    }

    private struct WebSignOut: Runway.Endpoint {
        static let service = Shop.self
        static let method = HTTPRequest.Method.post
        var path: Runway.EndpointPath { "web-sign-in/sign-out" }
    }

    @Test func signingOutEndsTheCookiesBeforeTheToken() async throws {
        let sessions = WebSessionMemory()
        let cookies = ["anna", "anna", "berta"].map { sessions.begin(below: "Bearer \($0)") ?? "" }
        let router = Router()
        let half = RunwayServer.WebSignIn(origin: "https://m.example.com")
        half.addSignOut(from: router) { request, _ in
            request.headers[.authorization]
        } end: { session, _ in
            sessions.end(below: session)
        }
        try await serving(router) { port in
            let transport = try NIOTransport()
            let network = NetworkLayer(transport: transport)
            network.configure(Shop.self) { $0.baseURLs = [.release: "http://127.0.0.1:\(port)"] }
            try await network.signIn(AccessToken("anna", account: "anna"), to: Shop.self)
            let signIn = RunwayMediator.WebSignIn(at: "https://m.example.com") {
                ""
            } end: {
                _ = try await network.call(WebSignOut())
            }
            let hasEnded = try await signIn.signOut { try await network.signOut(of: Shop.self) }
            #expect(hasEnded && cookies.map { sessions.session(of: $0) } == [nil, nil, "Bearer berta"])
            #expect(network.settings(of: Shop.self).account == nil)
            // Nobody is signed in any more whose web sessions could end.
            #expect(try await !signIn.signOut { try await network.signOut(of: Shop.self) })
            await transport.shutdown(waitingAtMost: .zero)
        }
    }
}
