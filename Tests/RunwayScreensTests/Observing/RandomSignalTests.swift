import RunwayTesting
import Testing

@testable import RunwayScreens

/// Random reports, each series from a seed.
struct RandomSignalTests {
    /// What is visible, by a definition that shares no code with the machine: all in a window whose scene is in the foreground.
    private struct Reference {
        var inWindow: [Int: ScreenMachine.Appearance] = [:]
        var background: Set<String> = []
        var known: Set<String> = []

        var visible: Set<Int> { Set(inWindow.filter { !background.contains($0.value.scene) }.keys) }

        mutating func receive(_ signal: ScreenMachine.Signal) {
            switch signal {
            case .appeared(let appearance):
                if known.insert(appearance.scene).inserted, !appearance.isForeground {
                    background.insert(appearance.scene)
                }
                let old = inWindow[appearance.id]
                if old?.name != appearance.name || old?.scene != appearance.scene {
                    inWindow[appearance.id] = appearance
                }
            case .disappeared(let id, _):
                guard inWindow.removeValue(forKey: id) != nil else { return }
                for child in inWindow.values where child.container == id {
                    receive(.disappeared(child.id, isClosed: false))
                }
            case .released(let id): inWindow[id] = nil
            case .scene(let id, let change):
                known.insert(id)
                background.remove(id)
                if change == .background { background.insert(id) }
                guard change == .disconnected else { return }
                known.remove(id)
                inWindow = inWindow.filter { $0.value.scene != id }
            }
        }
    }

    private static func signal(with random: inout SeededGenerator) -> ScreenMachine.Signal {
        let id = Int.random(in: 0..<12, using: &random)
        let scene = ["A", "B", "C"].randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<8:
            return .appeared(
                .init(
                    id: id, name: Int.random(in: 0..<20, using: &random) == 0 ? "other" : "screen \(id)", scene: scene,
                    container: Bool.random(using: &random) ? Int.random(in: 0..<12, using: &random) : nil,
                    isForeground: Bool.random(using: &random)))
        case 8..<14: return .disappeared(id, isClosed: Bool.random(using: &random))
        case 14: return .released(id)
        case 15: return .scene(scene, .disconnected)
        case 16..<18: return .scene(scene, .background)
        default: return .scene(scene, .foreground)
        }
    }

    @Test(arguments: 0..<20) func randomReportsMakePairedEvents(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (machine, reference) = (ScreenMachine(), Reference())
        var now = ContinuousClock.now
        var open: [Int: ScreenEvent] = [:]
        var totals: [Int: Duration] = [:]
        var counts: [ScreenEvent.Reason: Int] = [:]

        func check(_ signal: ScreenMachine.Signal) {
            let events = machine.receive(signal, at: now)
            for event in events {
                counts[event.reason, default: 0] += 1
                if event.isVisible {
                    #expect(open.updateValue(event, forKey: event.id) == nil, "seed \(seed): appeared twice")
                    #expect(event.visibleTime == .zero && event.totalVisibleTime >= .zero)
                    if event.reason == .opened { totals[event.id] = .zero }
                } else {
                    let appeared = open.removeValue(forKey: event.id)
                    #expect(appeared?.screen == event.screen && appeared?.scene == event.scene, "seed \(seed)")
                    #expect(
                        event.visibleTime >= .zero
                            && event.totalVisibleTime == (totals[event.id] ?? .zero) + event.visibleTime)
                    totals[event.id] = event.totalVisibleTime
                }
            }
            reference.receive(signal)
            #expect(Set(open.keys) == reference.visible, "seed \(seed): \(signal)")
        }

        for _ in 0..<5_000 {
            // Now and then the clock steps back.
            now += .milliseconds(Int.random(in: -200..<2_000, using: &random))
            check(Self.signal(with: &random))
        }
        for scene in ["A", "B", "C"] { check(.scene(scene, .disconnected)) }
        #expect(open.isEmpty && machine.count.screens == 0 && machine.count.scenes == 0, "seed \(seed)")
        let reasons: [ScreenEvent.Reason] = [
            .opened, .returned, .foreground, .closed, .hidden, .background, .disconnected, .lost,
        ]
        #expect(reasons.allSatisfy { counts[$0, default: 0] > 10 }, "\(counts)")
    }

    @Test(arguments: 100..<104) func memoryIsBoundedWhateverComes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var machine = ScreenMachine()
        for _ in 0..<5_000 {
            let id = Int.random(in: 0..<100_000, using: &random)
            // Many screens in few scenes, or many scenes.
            let scene = "\(Int.random(in: 0..<(seed % 2 == 0 ? 3 : 1_000), using: &random))"
            switch Int.random(in: 0..<4, using: &random) {
            case 0: _ = machine.receive(.scene(scene, .background), at: .now)
            case 1: _ = machine.receive(.disappeared(id, isClosed: false), at: .now)
            default: _ = machine.receive(.appeared(.init(id: id, name: "screen", scene: scene)), at: .now)
            }
            #expect(machine.count.screens <= 256 && machine.count.scenes <= 64, "seed \(seed)")
        }
    }
}
