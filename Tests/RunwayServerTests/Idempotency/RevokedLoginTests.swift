import Hummingbird
import RunwayServer
import RunwayTesting
import Synchronization
import Testing

/// Requests whose login changes while their body comes.
@Suite(.timeLimit(.minutes(5)))
struct RevokedLoginTests {
    /// Who is signed in.
    private final class Login: Sendable {
        /// Guards the account, and how often it was asked for.
        private let state = Mutex<(account: String?, count: Int)>(("ada", 0))

        var count: Int { state.withLock { $0.count } }

        func account() -> String? {
            state.withLock { state in
                state.count += 1
                return state.account
            }
        }

        func change(to account: String?) { state.withLock { $0.account = account } }
    }

    private let login = Login()

    /// Sends a request whose login becomes that of `account` between its head and its body; returns the response.
    private func reply(
        _ path: String, by router: Router<BasicRequestContext>, as account: String?
    ) async throws -> String {
        try await serving(router) { port in
            let connection = try await RawConnection(to: port)
            let fields = "Host: x\r\nIdempotency-Key: k\r\nContent-Length: 2\r\nConnection: close"
            try await connection.send("POST /\(path) HTTP/1.1\r\n\(fields)\r\n\r\n")
            try await waitUntil("the login is asked for") { login.count > 0 }
            login.change(to: account)
            try await connection.send("{}")
            return try await connection.rest()
        }
    }

    @Test(arguments: ["ada", nil, "ben", "Ada"])
    func loginAfterTheBodyDecidesOverAnExecution(account: String?) async throws {
        let (effects, router) = (Count(), Router())
        router.add(
            middleware: IdempotencyMiddleware(store: MemoryIdempotencyStore()) { [login] _, _ in login.account() })
        router.post("orders") { _, _ in
            effects.add()
            return "done"
        }
        let reply = try await reply("orders", by: router, as: account)
        #expect(reply.contains(account == "ada" ? " 200 " : " 401 "), "\(reply)")
        #expect(effects.value == (account == "ada" ? 1 : 0))
    }

    @Test(arguments: ["ada", nil])
    func loginAfterTheBodyDecidesOverABatch(account: String?) async throws {
        let router = Router()
        ActionLogRoute(to: MemoryActionLogSink()).add(to: router) { [login] _, _ in
            guard let account = login.account() else { throw HTTPError(.unauthorized) }
            return account
        }
        // The body is no batch.
        let reply = try await reply("log", by: router, as: account)
        #expect(reply.contains(account == nil ? " 401 " : " 400 "), "\(reply)")
    }
}
