import AppleFoundation
import Runway
import RunwayTesting
import Testing
import UIKit
import WebKit

@testable import RunwayBridge

extension WebViewTests {
    // MARK: Sign-out

    @Test func dataAreClearedWhileNoPageIsShown() async {
        await open()
        call("wait")
        let store = view.configuration.websiteDataStore
        store.fakeEvents = []
        bridge.signOut()
        #expect(records.kinds == [.ended])
        await until { store.fakeEvents.count >= 2 }
        await settle()
        // The store is cleared at once, and again when no page can write any more.
        #expect(store.fakeEvents.sorted() == ["loadHTMLString", "removeData"])
        // The page can't navigate once more before it is replaced.
        #expect(await !view.fakeNavigate(to: "https://m.example.com/other"))
        await settle()
        #expect(store.fakeEvents.count == 2)
    }

    @Test func dataAreClearedWhenTheEmptyPageFails() async {
        await open()
        let store = view.configuration.websiteDataStore
        let app = AppDelegate()
        app.policy = .cancel
        view.navigationDelegate = app
        for _ in 1...2 {
            store.fakeEvents = []
            bridge.signOut()
            await until { view.fakeProvisional != nil }
            await until { store.fakeEvents.count >= 2 }
            await settle()
            #expect(store.fakeEvents.sorted() == ["loadHTMLString", "removeData"])
            view.fakeFail()
            await until { view.fakeProvisional != nil }
            #expect(store.fakeEvents.suffix(2) == ["removeData", "load https://m.example.com/"])
            view.fakeFail()
        }
        // The app's delegate is not asked about the empty page.
        bridge.signOut()
        await until { view.fakeProvisional != nil }
        #expect(await view.fakeCommit() && app.events == ["commit", "finish"])
    }

    @Test func aPageCanDelayTheClearingForTwoSeconds() async {
        await open()
        let store = view.configuration.websiteDataStore
        store.fakeEvents = []
        bridge.signOut()
        await until { view.fakeProvisional != nil }
        await until { store.fakeEvents.count >= 2 }
        await settle()
        #expect(store.fakeEvents.sorted() == ["loadHTMLString", "removeData"])
        // The app loads another page meanwhile.
        #expect(view.load(URLRequest(url: URL(string: "https://m.example.com/login")!)) == nil)
        clock.advance(by: WebViewShell.longestDelay)
        await until { store.fakeEvents.count >= 4 }
        #expect(store.fakeEvents.suffix(2) == ["removeData", "load https://m.example.com/login"])
    }

    @Test func storesWithoutViewsAreCleared() async {
        let configuration = WKWebViewConfiguration()
        weak var gone: WKWebView?
        do { gone = bridge.makeWebView(configuration: configuration) }
        await until { gone == nil }
        #expect(gone == nil)
        bridge.signOut()
        await until { !configuration.websiteDataStore.fakeEvents.isEmpty }
        await settle()
        #expect(configuration.websiteDataStore.fakeEvents == ["removeData"])
    }

    @Test func thePageReturnsAfterSignOut() async {
        await open()
        let store = view.configuration.websiteDataStore
        store.fakeEvents = []
        bridge.signOut()
        await until { view.fakeProvisional != nil }
        #expect(await view.fakeCommit())
        await until { view.fakeProvisional != nil }
        await until { store.fakeEvents.count >= 4 }
        #expect(store.fakeEvents.count == 4)
        #expect(store.fakeEvents.suffix(2) == ["removeData", "load https://m.example.com/"])
        #expect(await view.fakeCommit())
    }

    // MARK: Warm views

    @Test func aWarmViewIsTakenOnce() async {
        var count = 0
        let warm = WarmWebView(bridge, mediator: mediator, in: shell) {
            count += 1
            return WKWebViewConfiguration()
        }
        warm.prepare()
        warm.prepare()
        let view = warm.take()
        #expect(count == 1 && view.configuration.websiteDataStore.fakeEvents == ["loadHTMLString"])
        #expect(warm.take() !== view && count == 2)
        // The view that was taken is one like any other.
        #expect(await view.fakeCommit())
        bridge.signOut()
        await until { view.configuration.websiteDataStore.fakeEvents.count >= 3 }
        await settle()
        #expect(view.configuration.websiteDataStore.fakeEvents.sorted() == ["loadHTMLString", "loadHTMLString", "removeData"])
    }

    @Test func signingOutClearsTheStoreOfAWarmView() async {
        let configuration = WKWebViewConfiguration()
        let warm = WarmWebView(bridge) { configuration }
        warm.prepare()
        bridge.signOut()
        await until { warm.view == nil }
        await until { configuration.websiteDataStore.fakeEvents.count >= 3 }
        await settle()
        // By the view, whatever its store, and since the bridge remembers the store.
        #expect(configuration.websiteDataStore.fakeEvents == ["loadHTMLString", "removeData", "removeData"])
    }

    @Test func aWarmViewEnds() async {
        let warm = WarmWebView(bridge)
        for end in ["sign-out", "crash", "memory"] {
            weak var prepared: WKWebView?
            warm.prepare()
            prepared = warm.view
            #expect(prepared != nil)
            switch end {
            case "sign-out": bridge.signOut()
            case "crash": prepared?.fakeCrash()
            default: FakeMemory.press(.warning)
            }
            await until { prepared == nil }
            #expect(prepared == nil, "\(end)")
        }
    }
}
