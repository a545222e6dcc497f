import Foundation
import Runway
import RunwayStorage
import RunwayTesting
import Testing

@testable import RunwayScreens

@MainActor struct ScreensTests {
    private let journal = Journal()

    private func screens() -> Screens {
        let screens = Screens(rules)
        screens.delegate = journal
        return screens
    }

    private func appearance(_ id: Int, _ name: String) -> ScreenMachine.Signal {
        .appeared(.init(id: id, name: name, scene: "A"))
    }

    @Test func delegateReceivesEventsBeforeTheClosure() {
        let screens = screens()
        var counts: [Int] = []
        screens.onEvent = { [journal] _ in counts.append(journal.events.count) }
        screens.receive(appearance(1, "orders"))
        screens.receive(.disappeared(1, isClosed: true))
        #expect(counts == [1, 2] && journal.events.map(\.reason) == [.opened, .closed])
    }

    @Test func delegateMayShowAScreenMeanwhile() {
        let screens = screens()
        for id in 1...3 { screens.receive(appearance(id, "screen \(id)")) }
        journal.events = []
        var isReporting = false
        journal.onReport = { event in
            #expect(!isReporting, "the delegate is called while it has not returned")
            isReporting = true
            if event.id == 3 { screens.receive(.appeared(.init(id: 9, name: "help", scene: "B"))) }
            isReporting = false
        }
        screens.receive(.scene("A", .background))
        #expect(journal.events.map(\.id) == [3, 2, 1, 9])
    }

    @Test func delegateIsNotRetained() {
        let screens = Screens()
        do {
            let journal = Journal()
            screens.delegate = journal
        }
        #expect(screens.delegate == nil)
        screens.receive(appearance(1, "orders"))
    }

    @Test func releasedControllerEndsItsScreen() async throws {
        let screens = screens()
        var witness: Witness? = Witness(for: screens) { .released($0) }
        screens.receive(appearance(try #require(witness).number, "orders"))
        witness = nil
        try await waitUntil("the end of the screen") { journal.events.count == 2 }
        #expect(journal.events.last?.reason == .lost)
    }

    @Test func secondsAreRoundedDownToMilliseconds() {
        func event(_ visible: Duration) -> ScreenEvent {
            ScreenEvent(
                screen: "", scene: "", id: 1, isVisible: false, reason: .hidden, visibleTime: visible,
                totalVisibleTime: visible)
        }
        #expect(event(.microseconds(2_345_999)).seconds == 2.345 && event(.zero).seconds == 0)
        #expect(event(.seconds(1)).name == "screen disappeared")
    }

    @Test func actionLogStoresEvents() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "screens-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let log = ActionLog(at: folder.appending(path: "actions.sqlite"))
        let screens = screens()
        write(screens, to: log)
        screens.receive(appearance(1, "orders"))
        screens.receive(.scene("A", .background))
        try await waitUntil("both are stored") { await log.currentState.waitingCount == 2 }
        await log.close()
    }
}
