import AppleFoundation
import ObjectiveC
import RunwayTesting
import Testing
import UIKit

@testable import RunwayScreens

/// Controllers that are configured and observed, over a runtime and a UIKit that behave as they are documented.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5)))
final class ScreenTests: ScreensDelegate {
    /// Controllers of an app: none of them knows the library.
    class Plain: UIViewController {
        var steps: [String] = []
        init() { super.init(nibName: nil, bundle: nil) }
        required init?(coder: NSCoder) { nil }
        override func viewDidLoad() {
            steps.append("begins to load")
            super.viewDidLoad()
            steps.append("has loaded")
        }
    }
    final class List: Plain {}
    final class Details: Plain {
        override func viewDidAppear(_ animated: Bool) {
            super.viewDidAppear(animated)
            steps.append("appeared")
        }
    }
    final class Tabs: Plain {}

    private var events: [ScreenEvent] = []
    private var reports: [String] {
        events.map { "\($0.screen) \($0.isVisible ? "appeared" : "disappeared"): \($0.reason)" }
    }
    private let scene = UIWindowScene()
    private let window: UIWindow
    private static let originalCalls = [
        "viewDidLoad", "viewWillAppear:true", "viewDidAppear:true", "viewDidDisappear:true",
    ]

    func screens(_ screens: Screens, didReport event: ScreenEvent) { events.append(event) }

    init() {
        window = UIWindow(windowScene: scene)
        scene.fakeChange(to: .foregroundActive)
    }

    private func install(_ rules: [ScreenRule]? = nil) -> Screens {
        let screens = Screens(
            rules ?? [
                .whenLoaded(Plain.self) { $0.steps.append("configured after \($0.fakeCalls)") },
                .beforeAppearing(Details.self) { $0.title = "details" },
                .screen(List.self, "list"), .screen(Details.self, "details"), .screen(Tabs.self, "tabs"),
            ])
        screens.delegate = self
        screens.install()
        return screens
    }

    @Test func methodsAreReplacedOnce() {
        let first = install()
        first.install()
        let second = install()
        second.install()
        let names = ["viewDidLoad", "viewWillAppear:", "viewDidAppear:", "viewDidDisappear:"]
        #expect(FakeRuntime.replacements == Dictionary(uniqueKeysWithValues: names.map { (Selector($0), 1) }))
        let list = List()
        list.fakeAppear(in: window)
        list.fakeDisappear(popping: true)
        // Each original once, with its own selector and argument.
        #expect(list.fakeCalls == Self.originalCalls)
        #expect(reports == ["list appeared: opened", "list disappeared: closed"])
    }

    @Test func newestObjectReceivesTheCallbacks() {
        let first = install()
        first.onEvent = { _ in Issue.record("the first object is notified") }
        let second = install()
        List().fakeAppear(in: window)
        #expect(reports == ["list appeared: opened"])
        withExtendedLifetime(second) {}
    }

    @Test func rulesPrecedeTheRestOfTheController() {
        let screens = install()
        let details = Details()
        details.fakeAppear(in: window)
        #expect(details.steps == ["begins to load", "configured after [\"viewDidLoad\"]", "has loaded", "appeared"])
        #expect(details.title == "details")
        withExtendedLifetime(screens) {}
    }

    @Test func controllersRunUnchangedWithoutRules() {
        let screens = install([])
        let details = Details()
        details.fakeAppear(in: window)
        details.fakeDisappear()
        #expect(
            details.fakeCalls == Self.originalCalls && details.steps == ["begins to load", "has loaded", "appeared"])
        #expect(details.witness == nil && events.isEmpty && details.title == nil)
        withExtendedLifetime(screens) {}
    }

    @Test func sceneInBackgroundHidesItsScreens() {
        let screens = install()
        let list = List()
        list.fakeAppear(in: window)
        scene.fakeChange(to: .background)
        scene.fakeChange(to: .foregroundActive)
        scene.fakeChange(to: .foregroundInactive)
        scene.fakeChange(to: .unattached)
        list.fakeDisappear()
        #expect(
            reports == [
                "list appeared: opened", "list disappeared: background", "list appeared: foreground",
                "list disappeared: disconnected",
            ])
        #expect(events.allSatisfy { $0.scene == scene.session.persistentIdentifier })
        withExtendedLifetime(screens) {}
    }

    @Test(arguments: [UIScene.ActivationState.background, .unattached])
    func launchInBackgroundShowsNothing(state: UIScene.ActivationState) {
        let scene = UIWindowScene()
        if state == .background { scene.fakeChange(to: .background) }
        // It begins to observe when the scene is connected already.
        let screens = install()
        let list = List()
        let window = UIWindow(windowScene: scene)
        list.fakeAppear(in: window)
        #expect(events.isEmpty)
        scene.fakeChange(to: .foregroundActive)
        #expect(reports == ["list appeared: opened"])
        withExtendedLifetime(screens) {}
    }

    /// It begins to observe between the two notifications of a scene that comes to the foreground.
    @Test func activeSceneIsInForeground() {
        let scene = UIWindowScene()
        scene.fakeChange(to: .background)
        let screens = install()
        let list = List()
        let window = UIWindow(windowScene: scene)
        list.fakeAppear(in: window)
        NotificationCenter.default.post(name: UIScene.didActivateNotification, object: scene)
        #expect(reports == ["list appeared: opened"])
        withExtendedLifetime(screens) {}
    }

    @Test(arguments: [false, true]) func childOfADismissedContainerIsClosed(isChildCalled: Bool) {
        let screens = install()
        let (tabs, list) = (Tabs(), List())
        tabs.fakeAppear(in: window)
        list.fakeAppear(in: window, of: tabs)
        tabs.fakeDisappear(dismissing: true, calling: isChildCalled ? [list] : [])
        #expect(
            reports == [
                "tabs appeared: opened", "list appeared: opened", "list disappeared: closed",
                "tabs disappeared: closed",
            ])
        withExtendedLifetime(screens) {}
    }

    @Test func controllerWithoutAWindowIsNoScreen() {
        let screens = install()
        let list = List()
        list.viewDidAppear(false)
        list.viewDidDisappear(false)
        #expect(events.isEmpty && list.fakeCalls == ["viewDidAppear:false", "viewDidDisappear:false"])
        withExtendedLifetime(screens) {}
    }

    @Test func releasedControllerEndsItsScreen() async throws {
        let screens = install()
        var list: List? = List()
        list?.fakeAppear(in: window)
        weak let released = list
        list = nil
        #expect(released == nil, "the library retains the controller")
        try await waitUntil("the end of the screen") { reports.last == "list disappeared: lost" }
        withExtendedLifetime(screens) {}
    }
}
