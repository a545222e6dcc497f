import HTTPTypes
import Runway
import RunwayBridge
import RunwayChromium
import RunwayTestServer
import RunwayTesting
import Testing

/// Calls end with their document, and no reply reaches another one.
@Suite(.enabled(if: SharedBrowser.isInstalled))
struct DocumentTests {
    private static let limits = BridgeLimits(maximumCallsInFlight: 100)
    private static let hundredCalls = """
        (() => {
          globalThis.ends = []
          for (let i = 0; i < 100; i++) runway.call('wait').catch(error => ends.push(error.kind))
        })()
        """

    /// Makes 100 calls, leaves the page in some way, and checks that each call ended.
    private func leaving(_ leave: (Visit) async throws -> Void, then check: (Visit) async throws -> Void) async throws {
        let commands = WaitingCommand()
        try await Visit(limits: Self.limits, commands: [commands.command, .echo]).run { (visit) async throws in
            _ = try await visit.page.evaluate(Self.hundredCalls)
            try await commands.started.wait(atLeast: 100, within: .seconds(20), subject: "commands")
            try await leave(visit)
            try await commands.cancelled.wait(atLeast: 100, within: .seconds(20), subject: "cancelled commands")
            let records = try await visit.records.first(100)
            #expect(records.allSatisfy { $0.error?.kind == .ended && !$0.isRefusal && $0.command == "wait" })
            try await check(visit)
        }
    }

    @Test func callsEndWhenThePageNavigates() async throws {
        try await leaving {
            try await $0.page.load($0.home + "/next")
        } then: { (visit) async throws in
            #expect(try await visit.page.evaluate("[typeof ends, typeof runway]") == #"["undefined","object"]"#)
            #expect(try await visit.kind(of: "runway.call('echo', { text: '' })") == #""done""#)
        }
    }

    @Test func goingBackRejectsWhatWasPending() async throws {
        try await leaving {
            try await $0.page.load($0.home + "/next")
        } then: { (visit) async throws in
            try await visit.page.go(by: -1)
            // The page was frozen, not loaded again: its script still has its variables.
            let ends = try await visit.value(of: "ends.length === 100 ? [...new Set(ends)] : undefined")
            #expect(ends == #"["ended"]"#)
            #expect(try await visit.kind(of: "runway.call('echo', { text: '' })") == #""done""#)
        }
    }

    @Test func callsEndWhenThePageCrashes() async throws {
        try await leaving {
            $0.page.crash()
        } then: { (visit) async throws in
            try await visit.page.load(visit.home + "/after")
            #expect(try await visit.kind(of: "runway.call('echo', { text: '' })") == #""done""#)
        }
    }

    @Test func callsEndWhenThePageIsClosed() async throws {
        let commands = WaitingCommand()
        let visit = try await Visit(limits: Self.limits, commands: [commands.command])
        _ = try await visit.page.evaluate(Self.hundredCalls)
        try await commands.started.wait(atLeast: 100, within: .seconds(20), subject: "commands")
        try await visit.page.close()
        try await commands.cancelled.wait(atLeast: 100, within: .seconds(20), subject: "cancelled commands")
        let records = try await visit.records.first(100)
        #expect(records.allSatisfy { $0.error?.kind == .ended && !$0.isRefusal })
        await visit.site.shutdown()
    }

    @Test func signingOutEndsCallsAndClearsThePage() async throws {
        try await leaving { (visit) async throws in
            // The page writes as often as it can, and once more when it is left.
            let write = """
                (() => {
                  const write = () => { document.cookie = 'session=1'; localStorage.name = 'Ada' }
                  setInterval(write, 0)
                  addEventListener('pagehide', write)
                  write()
                })()
                """
            _ = try await visit.page.evaluate(write)
            visit.bridge.signOut()
        } then: { (visit) async throws in
            let data =
                "location.protocol !== 'http:' || globalThis.ends ? undefined : "
                + "[document.cookie, localStorage.length]"
            var state = ""
            // The page that is about to be loaded again may take the question with it.
            for _ in 0..<10 where state.isEmpty { state = (try? await visit.value(of: data)) ?? "" }
            #expect(state == #"["",0]"#)
        }
    }

    @Test func signingOutClearsOriginsVisitedBefore() async throws {
        try await Visit().run { (visit) async throws in
            _ = try await visit.page.evaluate("document.cookie = 'session=1', localStorage.name = 'Ada'")
            try await visit.page.load(visit.elsewhere + "/")
            _ = try await visit.page.evaluate("globalThis.isOld = true")
            visit.bridge.signOut()
            let isNew = "location.protocol !== 'http:' || globalThis.isOld ? undefined : true"
            var state = ""
            // The page that is about to be loaded again may take the question with it.
            for _ in 0..<10 where state.isEmpty { state = (try? await visit.value(of: isNew)) ?? "" }
            #expect(state == "true")
            try await visit.page.load(visit.home + "/")
            // A process that has shown the origin before learns by a message that its storage is cleared.
            let isCleared = "document.cookie || localStorage.length ? undefined : true"
            #expect(try await visit.value(of: isCleared) == "true")
        }
    }

    @Test func aRedirectLosesTheGrant() async throws {
        try await Visit().run { (visit) async throws in
            try await visit.page.load(visit.home + "/redirect")
            #expect(try await visit.page.evaluate("location.origin") == "\"\(visit.elsewhere)\"")
            #expect(try await visit.kind(of: "runway.call('echo', { text: '' })") == #""notGranted""#)
            #expect(try await visit.records.first(1).map(\.origin) == [visit.elsewhere])
        }
    }

    @Test func aSandboxedPageIsRefused() async throws {
        try await Visit(headerFields: [.contentSecurityPolicy: "sandbox allow-scripts"]).run { (visit) async throws in
            #expect(try await visit.page.evaluate("location.origin") == "\"\(visit.home)\"")
            #expect(try await visit.kind(of: "runway.call('echo', { text: '' })") == #""opaqueOrigin""#)
            #expect(try await visit.records.first(1).map(\.origin) == ["null"])
        }
    }

    @Test(arguments: ["data:text/html,<p>hello", "about:blank"])
    func aPageWithoutAServerIsRefused(_ address: String) async throws {
        try await Visit().run { (visit) async throws in
            try await visit.page.load(address)
            #expect(try await visit.kind(of: "runway.call('echo', { text: '' })") == #""opaqueOrigin""#)
            #expect(try await visit.records.first(1).map(\.origin) == ["null"])
        }
    }
}
