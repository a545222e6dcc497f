import Runway
import RunwayBridge
import RunwayTestServer
import RunwayTesting
import Testing

@testable import RunwayTables

/// A web page calls a method of a data center, and nothing of its tables.
@MainActor @Suite(.timeLimit(.minutes(5)))
struct DataCenterCommandTests {
    private struct Note: Decodable, Sendable {
        let id: Int
        let text: String
    }

    /// Calls a command as a page does after a gesture, and returns the reply.
    private func reply(of command: Command, _ input: String) async -> PageReply? {
        let (replies, reply) = AsyncStream.makeStream(of: PageReply.self)
        let bridge = Bridge(capabilities: [Capability(.bundle("homes"), commands: [command])])
        let page = BridgedPage(bridge, shell: .init(reply: { content, _ in reply.yield(content) }, reset: {}))
        page.open("context", origin: "runway-bundle://homes", isMainFrame: true)
        page.receive(#"{"document":"a","generation":1,"type":"opened"}"# + "\n", from: "context")
        let call = #""type":"call","id":1,"name":"\#(command.name)","gesture":1,"age":0"#
        page.receive(#"{"document":"a","generation":1,\#(call)}"# + "\n" + input, from: "context")
        // The calls of a page end with it.
        defer { withExtendedLifetime(page) {} }
        for await reply in replies { return reply }
        return nil
    }

    @Test func pagesCallMethodsOfADataCenter() async throws {
        let app = try await LandingApp()
        app.origin.on("/homes", respond: homes(["1 first"]))
        let manager = APIManager<CachedHomeList>(on: app.network)
        let landing = app.land(CachedHomeList.self)
        try await manager.landing(of: CachedHomeList(city: "a"))
        await landing.committed()
        let center = HomeCenter(app)
        let command = Command("homes.note", isUnsafe: true) { (note: Note, _) in
            try await center.note(note.text, on: note.id)
            return NoValue()
        }
        let done = await reply(of: command, #"{"id":1,"text":"mine"}"#)
        #expect(done?.kind == .done && done?.text == "null")
        let notes = try await app.store.read { try $0.fetch(Homes.self).map { $0[Homes.note] } }
        #expect(notes == ["mine"])
        // The change of the page has removed the cached responses that it made outdated.
        try await manager.landing(of: CachedHomeList(city: "a"))
        #expect(app.origin.requests.count == 2)
        let failed = await reply(of: command, #"{"id":77,"text":"mine"}"#)
        #expect(failed?.errorKind == "failed" && failed?.text == "The command failed.")
        await app.end()
    }
}
