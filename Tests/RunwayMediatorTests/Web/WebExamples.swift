import Foundation
import RunwayMediator
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// The examples of web views and prefetches, over stand-ins for the app's network and web view.

@MainActor private final class Network {
    private(set) var calls: [String] = []
    @discardableResult
    func call<Endpoint: Sendable>(_ endpoint: Endpoint) async throws -> String {
        calls.append("\(endpoint)")
        return "code"
    }
}
private struct OrderEndpoint { let id: Int }
private struct WebSignInCode {}
private struct WebSignOut {}
@MainActor private final class WebView {
    private(set) var request: URLRequest?
    func load(_ request: URLRequest) { self.request = request }
}

@MainActor private struct PrefetchExample: Module {
    let network: Network
    func screen(for page: OrdersPage, in mediator: Mediator) -> Screen { Screen(page) }
    func prefetch(for page: OrdersPage) {
        if case .order(let id, _) = page { Task { try? await network.call(OrderEndpoint(id: id)) } }
    }
}

@MainActor struct WebExamples {
    private let network = Network()

    @Test func theWebViewAsksAboutNavigations() {
        let (mediator, shell) = Mediator.example()
        var steps: [String] = []
        let cancel = { steps.append("cancel") }
        let load = { steps.append("load") }
        let openInSystem = { (address: String) in steps.append(address) }
        for address in ["app://orders/list", "https://m.example.com/", "tel:1", "file:///"] {
            switch mediator.navigate(to: address) {
            case .native, .refused: cancel()
            case .web: load()
            case .system: cancel(); openInSystem(address)
            }
        }
        #expect(steps == ["cancel", "load", "cancel", "tel:1", "cancel"] && shell.shown.count == 1)
    }

    @Test func theWebViewPostsTheCode() async throws {
        let webView = WebView()
        let address = "https://m.example.com/orders/list"
        let url = try #require(URL(string: "https://m.example.com/web-sign-in"))
        let signIn = WebSignIn(at: "https://m.example.com") {
            try await network.call(WebSignInCode())
        } end: {
            try await network.call(WebSignOut())
        }
        let form = try await signIn.form(for: address)
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data(form.body.utf8)
        request.setValue(WebSignIn.Form.contentType, forHTTPHeaderField: "Content-Type")
        webView.load(request)
        #expect(form.url == url.absoluteString && webView.request?.httpBody == Data(form.body.utf8))
    }

    @Test func theModulePrefetches() async {
        let shell = RecordingShell()
        let mediator = Mediator { PrefetchExample(network: network) }
        mediator.shell = shell
        mediator.open(OrdersPage.order(id: 7, tab: nil))
        await Task {}.value
        #expect(network.calls == ["OrderEndpoint(id: 7)"])
    }
}
