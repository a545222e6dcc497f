import RunwayMediator
import Synchronization
import Testing

struct WebSignInTests {
    @Test(arguments: [
        ("https://m.example.com/orders/pay?id=7", "%2Forders%2Fpay%3Fid%3D7"), ("https://m.example.com", "%2F"),
        ("https://m.example.com?a=b", "%2F%3Fa%3Db"),
    ])
    func pagesOfTheSiteSignIn(address: String, to path: String) async throws {
        let form = try await WebSignIn(at: "https://m.example.com") {
            "a.b&c"
        } end: {
        }.form(for: address)
        #expect(form.url == "https://m.example.com/web-sign-in")
        #expect(form.body == "code=a.b%26c&to=\(path)")
    }

    @Test(arguments: [
        "https://m.example.com.evil.example/", "https://m.example.com@evil.example/", "https://m.example.com:8443/",
        "http://m.example.com/", "https://evil.example/https://m.example.com/", "https://m.example.com\\@evil.example/",
        "https://m.example.com/ a", "",
    ])
    func otherAddressesRequestNoCode(address: String) async {
        let count = Mutex(0)
        let signIn = WebSignIn(at: "https://m.example.com") {
            count.withLock { $0 += 1 }
            return "code"
        } end: {
        }
        await #expect(throws: MediatorError.self) { try await signIn.form(for: address) }
        #expect(count.withLock { $0 } == 0)
    }

    private struct Failure: Error {}

    @Test(arguments: [false, true]) func webSessionsEndBeforeTheApp(isOffline: Bool) async throws {
        let steps = Mutex<[String]>([])
        let signIn = WebSignIn(at: "https://m.example.com") {
            "code"
        } end: {
            steps.withLock { $0.append("end") }
            if isOffline { throw Failure() }
        }
        let hasEnded = await signIn.signOut { steps.withLock { $0.append("remove") } }
        #expect(hasEnded != isOffline && steps.withLock { $0 } == ["end", "remove"])
        await #expect(throws: Failure.self) { try await signIn.signOut { throw Failure() } }
    }
}
