import Foundation
import Synchronization
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

    /// Sends what the relay of the page's only document sends.
    private func send(_ type: String, _ members: String = "", input: String = "", to page: BridgedPage) {
        let header = #"{"document":"a","generation":1,"type":"\#(type)"\#(members)}"#
        page.receive(header + "\n" + input, from: "context")
    }

    /// Notes the ends of calls, and what a test adds.
    private final class Notes: BridgeSink {
        /// Guards the notes, oldest first.
        private let notes = Mutex<[String]>([])
        var all: [String] { notes.withLock { $0 } }
        func add(_ note: String) { notes.withLock { $0.append(note) } }
        func receive(_ record: BridgeRecord) { add(record.error?.kind.description ?? "done") }
    }

    @Test func signingOutEndsCallsBeforeDataAreCleared() {
        let notes = Notes()
        let wait = Command("wait") { (_: NoValue, _) in
            try await Task.sleep(for: .seconds(600))
            return NoValue()
        }
        let bridge = Bridge(capabilities: [Capability(.bundle("help"), commands: [wait])], sinks: [notes])
        let page = BridgedPage(bridge, shell: .init(reply: { _, _ in }, reset: { notes.add("reset") }))
        page.open("context", origin: "runway-bundle://help", isMainFrame: true)
        send("opened", to: page)
        send("call", #","id":1,"name":"wait""#, input: "{}", to: page)
        bridge.signOut()
        #expect(notes.all == ["ended", "reset"])
        send("call", #","id":2,"name":"wait""#, input: "{}", to: page)
        #expect(notes.all.count == 2)
    }

    @Test func bytesOfACallAreLoadedOnce() async throws {
        let command = Command(bytes: "bytes") { (_: NoValue, _) in Data([7]) }
        let (page, replies) = try open(command, limits: BridgeLimits())
        send("opened", to: page)
        var addresses: [String] = []
        for id in 1...2 { send("call", #","id":\#(id),"name":"bytes""#, input: "{}", to: page) }
        for await reply in replies {
            addresses.append(reply.text)
            if addresses.count == 2 { break }
        }
        #expect(page.takeBytes(at: addresses[0]) == Data([7]) && page.takeBytes(at: addresses[0]) == nil)
        // The other bytes are gone with their document.
        page.close("context")
        #expect(page.takeBytes(at: addresses[1]) == nil)
    }

    @Test func concurrentSendsAllContinue() async throws {
        let command = Command("parts") { (_: NoValue, call) throws(BridgeError) in
            await withTaskGroup { group in
                for number in 1...20 { group.addTask { try? await call.send(number) } }
            }
            return NoValue()
        }
        let (page, replies) = try open(command, limits: BridgeLimits(partsAhead: 1))
        send("opened", to: page)
        send("call", #","id":1,"name":"parts""#, input: "{}", to: page)
        var partCount = 0
        loop: for await reply in replies {
            switch reply.kind {
            case .part:
                partCount += 1
                send("acknowledge", #","id":1"#, to: page)
            case .done: break loop
            case .bytes, .chunk, .failed:
                Issue.record("the call failed: \(reply.text)")
                break loop
            }
        }
        #expect(partCount == 20)
    }
}
