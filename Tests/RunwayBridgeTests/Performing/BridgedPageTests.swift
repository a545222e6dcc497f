import Testing

@testable import RunwayBridge

@Suite(.timeLimit(.minutes(5)))
struct BridgedPageTests {
    /// A page whose replies the test receives.
    private func open(
        _ command: Command, limits: BridgeLimits
    ) throws -> (page: BridgedPage, replies: AsyncStream<PageReply>) {
        let home = RunwayBridge.Origin(PageFixture.home)
        let origin = try #require(home)
        let bridge = Bridge(capabilities: [Capability(origin, commands: [command])], limits: limits)
        let (replies, reply) = AsyncStream.makeStream(of: PageReply.self)
        let page = BridgedPage(bridge, shell: .init(reply: { content, _ in reply.yield(content) }, reset: {}))
        page.open("context", origin: PageFixture.home, isMainFrame: true)
        return (page, replies)
    }

    @Test func concurrentSendsAllContinue() async throws {
        let command = Command("parts") { (_: NoValue, call) throws(BridgeError) in
            await withTaskGroup { group in
                for number in 1...20 { group.addTask { try? await call.send(number) } }
            }
            return NoValue()
        }
        let (page, replies) = try open(command, limits: BridgeLimits(partsAhead: 1))
        func send(_ type: String, _ members: String = "", input: String = "") {
            let header = #"{"document":"a","generation":1,"type":"\#(type)"\#(members)}"#
            page.receive(header + "\n" + input, from: "context")
        }
        send("opened")
        send("call", #","id":1,"name":"parts""#, input: "{}")
        var partCount = 0
        loop: for await reply in replies {
            switch reply.kind {
            case .part:
                partCount += 1
                send("acknowledge", #","id":1"#)
            case .done: break loop
            case .bytes, .chunk, .failed:
                Issue.record("the call failed: \(reply.text)")
                break loop
            }
        }
        #expect(partCount == 20)
    }
}
