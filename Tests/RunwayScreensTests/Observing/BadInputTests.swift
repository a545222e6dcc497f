import Testing

@testable import RunwayScreens

/// Callbacks out of order, twice and never, and clocks that step back.
struct BadInputTests {
    @Test func doubledCallbacksCountOnce() throws {
        let report = try Script.report(
            """
            list viewDidAppear viewDidAppear viewDidAppear
            2 s
            list viewDidDisappear viewDidDisappear
            list viewDidDisappear(closing) deinit deinit
            scene A background
            scene A background
            scene A disconnected
            scene A disconnected
            """)
        #expect(report == ["list appeared: opened", "list disappeared: hidden after 2"])
    }

    @Test func disappearanceWithoutAppearanceIsNothing() throws {
        #expect(try Script.report("list viewDidDisappear deinit\nscene A background").isEmpty)
    }

    @Test func controllerMayMoveToAnotherScene() throws {
        var script = Script()
        script.receive(.appeared(.init(id: 1, name: "list", scene: "A")))
        script.receive(.appeared(.init(id: 1, name: "list", scene: "B")))
        script.receive(.scene("A", .background))
        script.receive(.scene("B", .background))
        #expect(
            script.events.map(Script.describe) == [
                "list appeared: opened", "list disappeared: hidden after 0", "list@B appeared: opened",
                "list@B disappeared: background after 0",
            ])
    }

    @Test func controllerMayShowSomethingElse() throws {
        var script = Script()
        script.receive(.appeared(.init(id: 1, name: "draft", scene: "A")))
        try script.play("4 s")
        script.receive(.appeared(.init(id: 1, name: "order", scene: "A")))
        #expect(
            script.events.map(Script.describe) == [
                "draft appeared: opened", "draft disappeared: hidden after 4", "order appeared: opened",
            ])
        #expect(script.events.last?.totalVisibleTime == .zero)
    }

    @Test func containersMayContainEachOther() throws {
        let report = try Script.report(
            containers: ["a": "b", "b": "a"], "a viewDidAppear\nb viewDidAppear\na viewDidDisappear")
        #expect(report.suffix(2) == ["b disappeared: hidden after 0", "a disappeared: hidden after 0"])
    }

    @Test func clockThatStepsBackTakesNothing() throws {
        var machine = ScreenMachine()
        let start = ContinuousClock.now
        func play(_ signal: ScreenMachine.Signal, at seconds: Int) -> [ScreenEvent] {
            machine.receive(signal, at: start + .seconds(seconds))
        }
        let list = ScreenMachine.Signal.appeared(.init(id: 1, name: "list", scene: "A"))
        _ = play(list, at: 0)
        #expect(play(.disappeared(1, isClosed: false), at: 10).map(\.totalVisibleTime) == [.seconds(10)])
        _ = play(list, at: 20)
        let event = try #require(play(.scene("A", .background), at: -1_000_000).first)
        #expect(event.visibleTime == .zero && event.totalVisibleTime == .seconds(10))
        _ = play(.scene("A", .foreground), at: 30)
        #expect(play(.released(1), at: 31).map(\.totalVisibleTime) == [.seconds(11)])
    }

    @Test func tooManyScreensEvictTheOldest() {
        var machine = ScreenMachine()
        var events: [ScreenEvent] = []
        func play(_ signal: ScreenMachine.Signal) { events += machine.receive(signal, at: .now) }
        func appear(_ id: Int) { play(.appeared(.init(id: id, name: "screen", scene: "A"))) }
        for id in 0..<1000 { appear(id) }
        #expect(machine.count.screens == 256 && events.count { $0.isVisible } == 1000)
        #expect(events.filter { !$0.isVisible }.map(\.id) == Array(0..<744))
        #expect(events.allSatisfy { $0.isVisible || $0.reason == .lost })
        // A hidden one goes first, without an event.
        play(.disappeared(900, isClosed: false))
        let before = events.count
        appear(2000)
        #expect(events.count == before + 1)
        appear(900)
        #expect(events.last?.reason == .opened)
    }

    @Test func tooManyScenesDisconnectTheOldest() {
        var machine = ScreenMachine()
        var events: [ScreenEvent] = []
        for number in 0..<100 {
            let name = "\(number)"
            events += machine.receive(.appeared(.init(id: number, name: "list", scene: name)), at: .now)
            if number == 50 { events += machine.receive(.scene(name, .background), at: .now) }
        }
        #expect(machine.count.scenes == 64 && machine.count.screens == 64)
        let disconnected = events.filter { $0.reason == .disconnected }
        #expect(disconnected.map(\.id) == Array(0..<35))
        #expect(events.filter { $0.reason == .background }.map(\.id) == [50])
    }
}
