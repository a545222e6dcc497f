import HTTPTypes
import Runway
import RunwayJSON
import RunwayMediator
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

@testable import RunwayBridge

struct CommandTests {
    private enum Shop: APIService {
        static let environments: [ServiceEnvironment: String] = [.release: "https://shop.example"]
    }

    private enum TenantShop: APIService {
        static let environments: [ServiceEnvironment: String] = [.release: "https://shop.example"]
        static let commonParameters: Parameters = ["tenant": "own"]
        static func makeCommonParameters() -> Parameters { ["place": "here"] }
    }

    private struct OrderList: Endpoint, Decodable {
        static let service = Shop.self
        let path: Runway.EndpointPath = "/orders"
        let state: String
        private enum CodingKeys: String, CodingKey { case state }
    }

    private struct CancelOrder: Endpoint, Decodable {
        static let service = Shop.self
        static let method = HTTPRequest.Method.post
        let path: Runway.EndpointPath = "/cancel"
        let id: Int
        private enum CodingKeys: String, CodingKey { case id }
    }

    private enum OrdersPage: Page {
        static let module = "orders"
        case order(id: Int), pay(id: Int), pick(Reply<String>), hidden(Reply<String>)
        var reach: Reach {
            switch self {
            case .order, .pick: .pages
            case .pay, .hidden: .app
            }
        }
    }

    private protocol Naming: Sendable {
        func name(of order: Int) async -> String
    }

    private struct LiveNaming: Naming {
        func name(of order: Int) async -> String { "order \(order)" }
    }

    private struct OrdersModule: Module {
        func screen(for page: OrdersPage, in mediator: Mediator) -> Screen { Screen(page) }
        var services: [Service] { [Service((any Naming).self) { LiveNaming() }] }
    }

    private func output(of command: Command, _ input: String) async throws -> String {
        let origin = RunwayBridge.Origin.bundle("shop")
        let call = CommandCall(origin: origin, idempotencyKey: "key") { (_) throws(BridgeError) in }
        guard case .json(let json) = try await command.run(try JSONDocument(input), call) else { return "bytes" }
        return String(decoding: json, as: UTF8.self)
    }

    @Test func anEndpointIsCalledWithItsInput() async throws {
        let transport = StubTransport { _ in .json(#"[{"id":7}]"#) }
        let network = NetworkLayer(transport: transport)
        let command = Command("orders.list", calling: OrderList.self, on: network) { (list) throws(BridgeError) in
            if list.state == "all" { throw BridgeError(.invalidInput, "Too many.") }
        }
        #expect(!command.isUnsafe)
        #expect(try await output(of: command, #"{"state":"open"}"#) == #"[{"id":7}]"#)
        #expect(transport.requests.map(\.head.path) == ["/orders?state=open"])
        await #expect(throws: BridgeError(.invalidInput, "Too many.")) {
            _ = try await output(of: command, #"{"state":"all"}"#)
        }
        #expect(transport.requests.count == 1)
    }

    @Test func anUnsafeEndpointCarriesTheKey() async throws {
        let transport = StubTransport { _ in .json("{}") }
        let command = Command("orders.cancel", calling: CancelOrder.self, on: NetworkLayer(transport: transport))
        #expect(command.isUnsafe)
        #expect(try await output(of: command, #"{"id":7}"#) == "{}")
        let field = try #require(HTTPField.Name("Idempotency-Key"))
        #expect(transport.requests.map { $0.head.headerFields[field] } == ["key"])
    }

    @Test func errorsOfTheNetworkAreKinds() async throws {
        let transport = StubTransport { (_) throws(NetworkError) in .json("no JSON") }
        let command = Command("orders.list", calling: OrderList.self, on: NetworkLayer(transport: transport))
        await #expect(throws: BridgeError.self) { _ = try await output(of: command, #"{"state":"open"}"#) }
        await #expect(throws: BridgeError(.invalidInput, "The input of the command is not of its type: see state.")) {
            _ = try await output(of: command, #"{"state":7}"#)
        }
    }

    @Test @MainActor func pagesOpenWithinTheirReach() async throws {
        let mediator = Mediator { OrdersModule() }
        let shell = RecordingShell()
        mediator.shell = shell
        let command = Command.openPages(in: mediator)
        #expect(try await output(of: command, #"{"address":"app://orders/order?id=7"}"#) == #""shown""#)
        #expect(shell.pages.map { $0 as? OrdersPage } == [.order(id: 7)])
        for address in ["app://orders/pay?id=7", "app://orders/order?id=07", "https://m.example.com/orders/order?id=7"]
        {
            await #expect(throws: BridgeError.self) { _ = try await output(of: command, #"{"address":"\#(address)"}"#) }
        }
        #expect(shell.pages.count == 1)
    }

    @Test func pathsBelowAPrefixAreCalled() async throws {
        let transport = StubTransport { _ in .json("{}") }
        let network = NetworkLayer(transport: transport)
        let get = Command("shop.get", calling: Shop.self, below: ["orders"], on: network)
        let post = Command("shop.post", calling: Shop.self, method: .post, below: ["/orders"], on: network)
        #expect(!get.isUnsafe && post.isUnsafe)
        #expect(try await output(of: get, #"{"path":"orders/a%20b","query":{"b":true,"a":7,"c":"x&y"}}"#) == "{}")
        #expect(try await output(of: post, #"{"path":"/orders","body":{"id":7}}"#) == "{}")
        #expect(transport.requests.map(\.head.path) == ["/orders/a%20b?a=7&b=true&c=x%26y", "/orders"])
        let field = try #require(HTTPField.Name("Idempotency-Key"))
        #expect(transport.requests.map { $0.head.headerFields[field] } == [nil, "key"])
        #expect(transport.requests.map(\.body.byteCount) == [0, 8])
        for path in ["admin", "orders/../admin", "orders2", "orders%2F7", "//evil.example/orders", "user@orders"] {
            let refusal = BridgeError(.notGranted, "The path is not below a prefix that the app has granted.")
            await #expect(throws: refusal) { _ = try await output(of: get, #"{"path":"\#(path)"}"#) }
        }
        #expect(transport.requests.count == 2)
    }

    @Test func queriesReplaceNoCommonParameters() async throws {
        let transport = StubTransport { _ in .json("{}") }
        let network = NetworkLayer(transport: transport)
        network.configure(TenantShop.self) { $0.commonParameters["client"] = "app" }
        let get = Command("shop.get", calling: TenantShop.self, below: ["orders"], on: network)
        for name in ["tenant", "client", "place", "Tenant", "tenant[]"] {
            await #expect { _ = try await output(of: get, #"{"path":"orders","query":{"\#(name)":"x"}}"#) } throws: {
                ($0 as? BridgeError)?.kind == .notGranted
            }
        }
        #expect(try await output(of: get, #"{"path":"orders","query":{"state":"open"}}"#) == "{}")
        #expect(transport.requests.map(\.head.path) == ["/orders?client=app&place=here&state=open&tenant=own"])
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            ScriptedResponse.json("[1,2,3]").declaring(length: 7_000_000).ending(.stayOpen),
            ScriptedResponse.json("[1,2,3]").framed(.chunkedWithoutEnd).ending(.stayOpen),
        ])
    func largeResponsesAreRefusedWhileTheyArrive(response: ScriptedResponse) async throws {
        let origin = try await ScriptedOrigin.start()
        let url = origin.baseURL
        // Neither ends.
        origin.on("/any", respond: response)
        origin.on("/small", respond: .json("[1,2]"))
        let transport = try NIOTransport()
        let network = NetworkLayer(transport: transport)
        network.configure(Shop.self) { $0.baseURLs = [.release: url] }
        let command = Command(
            "shop.get", calling: Shop.self, below: ["any", "small"], on: network, maximumResponseByteCount: 6)
        await #expect { _ = try await output(of: command, #"{"path":"any"}"#) } throws: {
            ($0 as? BridgeError)?.kind.description == "invalidResponse"
        }
        #expect(try await output(of: command, #"{"path":"small"}"#) == "[1,2]")
        await transport.shutdown(waitingAtMost: .zero)
        await origin.shutdown()
    }

    @Test @MainActor func servicesOfModulesAreCalled() async throws {
        let command = { (mediator: Mediator) in
            Command("orders.name", using: (any Naming).self, in: mediator) { (naming, order: CancelOrder, _) in
                await naming.name(of: order.id)
            }
        }
        #expect(try await output(of: command(Mediator { OrdersModule() }), #"{"id":7}"#) == #""order 7""#)
        await #expect { _ = try await output(of: command(Mediator {}), #"{"id":7}"#) } throws: {
            ($0 as? BridgeError)?.kind.description == "noService"
        }
    }

    @Test @MainActor func aPageReturnsItsResult() async throws {
        let mediator = Mediator { OrdersModule() }
        let shell = RecordingShell()
        mediator.shell = shell
        let pick = Command("orders.pick", resultOf: { (_: NoValue, reply) in OrdersPage.pick(reply) }, in: mediator)
        shell.onShow = { if case .pick(let reply) = $0.page as? OrdersPage { reply.finish("7") } }
        #expect(try await output(of: pick, "{}") == #""7""#)
        let hidden = Command("orders.hide", resultOf: { (_: NoValue, reply) in OrdersPage.hidden(reply) }, in: mediator)
        await #expect { _ = try await output(of: hidden, "{}") } throws: {
            ($0 as? BridgeError)?.kind.description == "outOfReach"
        }
    }
}
