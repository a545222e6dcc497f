import AppleFoundation
import Runway
import RunwayMediator
import RunwayTesting
import Synchronization
import Testing
import UIKit
import WebKit

@testable import RunwayBridge

/// The bridge in a WKWebView, over a fake WebKit that a test drives. No script runs: the tests send what the relay would send.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5)))
final class WebViewTests {
    enum TestPage: Page {
        static let module = "test"
        case screen(Int)
        case account
        var reach: Reach { self == .account ? .pages : .links }
    }

    struct TestModule: Module {
        func screen(for page: TestPage, in mediator: Mediator) -> Screen { Screen(UIViewController(nibName: nil, bundle: nil)) }
    }

    final class Records: BridgeSink {
        /// Guards the records, oldest first.
        private let records = Mutex<[BridgeRecord]>([])
        var all: [BridgeRecord] { records.withLock { $0 } }
        var kinds: [BridgeError.Kind?] { all.map { $0.error?.kind } }
        func receive(_ record: BridgeRecord) { records.withLock { $0.append(record) } }
    }

    nonisolated static let files = ["index.html": "<!doctype html>", "app.js": "1 + 1", "digits.bin": "0123456789"]

    let home = WKFrameInfo.fake("https", "m.example.com")
    let records = Records()
    /// Stands still unless a test advances it, however long a busy machine takes.
    let clock = ManualClock()
    let bridge: Bridge
    let mediator = Mediator(fallback: .web("https://m.example.com")) { TestModule() }
    let shell = RecordingShell()
    let view: WKWebView

    init() {
        let echo = Command("echo") { (input: [String: String], _) in input }
        let wait = Command("wait") { (_: NoValue, _) in
            try await Task.sleep(for: .seconds(600))
            return NoValue()
        }
        let bytes = Command(bytes: "bytes") { (count: Int, _) in Data(repeating: 7, count: count) }
        bridge = Bridge(
            capabilities: [
                Capability(Origin("https://m.example.com")!, commands: [echo, wait, bytes]),
                Capability(.bundle("help"), commands: [bytes]),
            ], bundles: [BundleFiles("help") { Self.files[$0].map { Data($0.utf8) } }], sinks: [records], clock: LayerClock(clock))
        mediator.shell = shell
        view = bridge.makeWebView(mediator: mediator, in: shell)
        UIApplication.fakeOpened = []
    }

    // MARK: The page

    func post(
        _ type: String, _ document: String = "a", generation: Int = 1, _ members: String = "", input: String = "",
        from frame: WKFrameInfo? = nil
    ) {
        let header = #"{"document":"\#(document)","generation":\#(generation),"type":"\#(type)"\#(members)}"#
        view.fakePost(header + "\n" + input, from: frame ?? home)
    }

    func call(
        _ name: String, id: Int = 1, _ document: String = "a", input: String = "{}", from frame: WKFrameInfo? = nil
    ) { post("call", document, #","id":\#(id),"name":"\#(name)""#, input: input, from: frame) }

    /// Loads a page, whose relay opens a document.
    func open(_ document: String = "a", at address: String = "https://m.example.com/") async {
        view.load(URLRequest(url: URL(string: address)!))
        #expect(await view.fakeCommit())
        post("opened", document)
    }

    /// Waits for so many replies, and returns their kinds and texts.
    func replies(_ count: Int) async -> [String] {
        await until { view.fakeReplies.count >= count }
        return view.fakeReplies.map { "\($0.values[2]) \($0.values[4])\($0.values[5])" }
    }

    /// Waits until something holds, for as long as a busy machine needs.
    func until(_ condition: @MainActor () -> Bool) async {
        do { try await waitUntil { condition() } } catch { Issue.record(error) }
    }

    /// Lets tasks run that could do what must not happen.
    func settle() async { for _ in 0..<20 { await Task {}.value } }

    // MARK: Messages

    @Test func theMainFrameReceivesItsReply() async {
        await open()
        call("echo", input: #"{"text":"x"}"#)
        #expect(await replies(1) == [#"done {"text":"x"}"#])
        #expect(view.fakeReplies[0].values[0] as? String == "a" && view.fakeReplies[0].frame === home)
        await until { !records.all.isEmpty }
        #expect(records.kinds == [nil] && records.all[0].origin == "https://m.example.com")
    }

    @Test func otherOriginsAreRefused() async {
        for frame in [
            WKFrameInfo.fake("https", "m.example.com", port: 8443), .fake("https", "example.com"), .fake("http", "m.example.com"),
        ] {
            await open()
            post("opened", "b", from: frame)
            call("echo", "b", from: frame)
            await settle()
        }
        #expect(view.fakeReplies.isEmpty && records.all.isEmpty)
        view.load(URLRequest(url: URL(string: "https://m.example.com/next")!))
        #expect(await view.fakeCommit())
        let other = WKFrameInfo.fake("https", "example.com")
        post("opened", "c", from: other)
        call("echo", "c", from: other)
        #expect(await replies(1).first?.hasPrefix("failed notGranted") == true)
        await until { !records.all.isEmpty }
        #expect(records.all.map(\.origin) == ["https://example.com"])
    }

    @Test func childFramesAreRefusedAndBounded() async {
        await open()
        call("wait")
        for number in 0..<100 {
            let child = WKFrameInfo.fake("https", "m.example.com", isMainFrame: false)
            post("opened", "child\(number)", from: child)
            call("echo", "child\(number)", from: child)
            await settle()
        }
        #expect(await replies(100).allSatisfy { $0.hasPrefix("failed foreignFrame") })
        #expect(view.fakeReplies.allSatisfy { $0.frame?.isMainFrame == false })
        #expect(records.kinds.allSatisfy { $0 == .foreignFrame })
        // The call of the page itself is still in flight.
        post("abort", "a", #","id":1"#)
        #expect(await replies(101).last?.hasPrefix("failed cancelled") == true)
    }

    @Test func messagesOfAnotherViewAreRefused() async {
        await open()
        let popup = WKWebView(frame: .zero, configuration: view.configuration)
        popup.fakePost(#"{"document":"a","generation":1,"type":"call","id":1,"name":"echo"}"# + "\n{}", from: home)
        await until { !records.all.isEmpty }
        await settle()
        #expect(records.kinds == [.popup] && popup.fakeReplies.isEmpty && view.fakeReplies.isEmpty)
    }

    @Test func windowsAreNotOpened() async {
        await open()
        #expect(view.fakeOpenWindow() == nil)
        #expect(await !view.fakeNavigate(to: "https://m.example.com/help", in: .window))
        #expect(records.kinds == [.popup, .popup])
        // A link to a native page opens it all the same.
        #expect(await !view.fakeNavigate(to: "https://m.example.com/test/screen?_0=1", in: .window))
        #expect(shell.shown.count == 1 && records.kinds.count == 2)
    }

    // MARK: Ends

    @Test func callsEndWhenThePageIsLeft() async {
        await open()
        call("wait")
        #expect(await view.fakeNavigate(to: "https://m.example.com/next"))
        #expect(records.kinds == [.ended])
        // What the old document sends late begins and calls nothing.
        call("echo", id: 2)
        post("opened", "b")
        post("shown", generation: 2)
        post("opened")
        call("echo", id: 3)
        await until { !records.all.isEmpty }
        await settle()
        #expect(view.fakeReplies.isEmpty && records.kinds == [.ended])
        call("echo", "b")
        #expect(await replies(1) == ["done {}"])
    }

    @Test func callsEndWhenTheProcessCrashes() async {
        await open()
        call("wait")
        view.fakeCrash()
        #expect(records.kinds == [.ended])
        post("opened", "b")
        call("echo", "b")
        await settle()
        #expect(view.fakeReplies.isEmpty)
        await open("c")
        call("echo", "c")
        #expect(await replies(1) == ["done {}"])
    }

    @Test func pagesReturnFromTheHistory() async {
        await open()
        call("wait")
        post("hidden")
        #expect(records.kinds == [.ended])
        await open("b", at: "https://m.example.com/next")
        #expect(await view.fakeNavigate(to: "https://m.example.com/", .backForward))
        post("shown", generation: 2)
        call("echo", id: 1)
        post("call", generation: 2, #","id":2,"name":"echo""#, input: "{}")
        #expect(await replies(2).map { $0.prefix(4) } == ["fail", "done"])
        #expect(records.kinds == [.ended, .ended, nil])
    }

    // MARK: Navigations

    @Test func theMediatorIsAskedAboutNavigationsOfPages() async {
        await open()
        #expect(await view.fakeNavigate(to: "https://m.example.com/help"))
        #expect(await !view.fakeNavigate(to: "https://m.example.com/test/screen?_0=1"))
        #expect(await !view.fakeNavigate(to: "https://m.example.com/test/screen?_0=2", .other))
        #expect(shell.shown.count == 2)
        post("opened", "b")
        post("gesture", "b")
        #expect(await !view.fakeNavigate(to: "tel:110"))
        #expect(await !view.fakeNavigate(to: "https://example.com/a", .other))
        #expect(UIApplication.fakeOpened == ["tel:110"])
        #expect(await !view.fakeNavigate(to: "other-app://pay"))
        #expect(await view.fakeNavigate(to: "https://example.com/advertisement", .other, in: .child))
        #expect(UIApplication.fakeOpened.count == 1 && shell.shown.count == 2)
    }

    @Test func aFrameOpensOnlyWhatLinksMay() async {
        await open()
        for frame in [WKFrameInfo.fake("https", "m.example.com", isMainFrame: false), .fake("https", "example.com")] {
            #expect(await view.fakeNavigate(to: "https://m.example.com/test/account", from: frame))
            await open()
            post("gesture")
            #expect(await !view.fakeNavigate(to: "sms:110", from: frame))
            #expect(await !view.fakeNavigate(to: "https://m.example.com/test/screen?_0=1", from: frame))
        }
        #expect(shell.shown.count == 2 && UIApplication.fakeOpened.isEmpty)
        #expect(records.kinds == [.gestureNeeded, .gestureNeeded])
        #expect(await !view.fakeNavigate(to: "https://m.example.com/test/account"))
        #expect(shell.shown.count == 3)
    }

    @Test func leavingForTheSystemNeedsAGesture() async {
        await open()
        #expect(await !view.fakeNavigate(to: "sms:1"))
        post("gesture", from: .fake("https", "m.example.com", isMainFrame: false))
        #expect(await !view.fakeNavigate(to: "sms:2"))
        post("gesture")
        clock.advance(by: .milliseconds(1001))
        #expect(await !view.fakeNavigate(to: "sms:3"))
        post("gesture")
        clock.advance(by: .seconds(1))
        #expect(await !view.fakeNavigate(to: "sms:4"))
        #expect(await !view.fakeNavigate(to: "sms:5"))
        #expect(UIApplication.fakeOpened == ["sms:4"])
        #expect(records.kinds == Array(repeating: .gestureNeeded, count: 4))
    }

    @Test func theMediatorIsNotAskedAboutLoadsOfTheApp() async {
        await open(at: "https://m.example.com/test/screen?_0=1")
        #expect(await view.fakeNavigate(to: "https://m.example.com/test/screen?_0=1", .reload))
        #expect(await view.fakeNavigate(to: "https://m.example.com/test/screen?_0=1", .backForward))
        #expect(await view.fakeNavigate(to: "https://m.example.com/test/screen?_0=1", .formSubmitted, method: "POST"))
        #expect(shell.shown.isEmpty)
        #expect(await !view.fakeNavigate(to: "https://m.example.com/test/screen?_0=1", .other))
        #expect(shell.shown.count == 1)
    }

    final class AppDelegate: NSObject, WKNavigationDelegate, WKUIDelegate {
        var events: [String] = []
        var policy = WKNavigationActionPolicy.allow
        func webView(_ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction) async -> WKNavigationActionPolicy {
            events.append("decide")
            return policy
        }
        func webView(_ webView: WKWebView, didCommit navigation: WKNavigation!) { events.append("commit") }
        func webView(_ webView: WKWebView, didFinish navigation: WKNavigation!) { events.append("finish") }
        func webViewWebContentProcessDidTerminate(_ webView: WKWebView) { events.append("crash") }
        func webView(
            _ webView: WKWebView, createWebViewWith configuration: WKWebViewConfiguration, for navigationAction: WKNavigationAction,
            windowFeatures: WKWindowFeatures
        ) -> WKWebView? { WKWebView(frame: .zero, configuration: configuration) }
        func webViewDidClose(_ webView: WKWebView) { events.append("close") }
    }

    @Test func delegatesOfTheAppSeeWhatPasses() async {
        let app = AppDelegate()
        view.navigationDelegate = app
        view.uiDelegate = app
        #expect(view.navigationDelegate === app && view.uiDelegate === app)
        await open()
        #expect(app.events == ["decide", "commit", "finish"])
        #expect(await !view.fakeNavigate(to: "https://m.example.com/test/screen?_0=1"))
        #expect(app.events.count == 3 && shell.shown.count == 1)
        app.policy = .cancel
        #expect(await !view.fakeNavigate(to: "https://m.example.com/help"))
        call("wait")
        view.fakeCrash()
        #expect(app.events.suffix(2) == ["decide", "crash"] && records.kinds == [.ended])
        #expect(view.fakeOpenWindow() == nil)
        view.fakeCloseWindow()
        #expect(app.events.last == "close")
    }

    // MARK: Configuration

    @Test func theScriptIsInBothWorldsOfEveryFrame() {
        let scripts = view.configuration.userContentController.userScripts
        #expect(scripts.count == 2 && scripts.allSatisfy { !$0.isForMainFrameOnly })
        #expect(view.configuration.limitsNavigationsToAppBoundDomains)
        #expect(!view.configuration.preferences.javaScriptCanOpenWindowsAutomatically)
        view.fakePost("x", from: home, world: "")
        #expect(records.all.isEmpty)
    }

    // MARK: Bytes

    @Test func bytesArriveInChunksOneAtATime() async {
        await open()
        call("bytes", input: "1500000")
        _ = await replies(1)
        call("bytes", id: 2, input: "3")
        var data = Data()
        for count in 1...5 {
            let texts = await replies(count)
            await settle()
            #expect(view.fakeReplies.count == count)
            let reply = view.fakeReplies[count - 1]
            if texts[count - 1].hasPrefix("chunk") { data += Data(base64Encoded: reply.values[5] as? String ?? "") ?? Data() }
            reply.end(.success(true))
        }
        #expect(await replies(6).map { $0.prefix(5) } == ["chunk", "chunk", "chunk", "bytes", "chunk", "bytes"])
        #expect(data == Data(repeating: 7, count: 1_500_003))
    }

    @Test func leavingThePageEndsItsBytes() async {
        await open()
        call("bytes", input: "1500000")
        _ = await replies(1)
        let first = view.fakeReplies[0]
        await open("b")
        call("bytes", "b", input: "3")
        _ = await replies(2)
        // The frame of the old document is gone.
        first.end(.success(true))
        await settle()
        #expect(view.fakeReplies.map { "\($0.values[0])\($0.values[2])" } == ["achunk", "bchunk"])
    }
}
