import Testing

@testable import RunwayScreens

/// Plays callbacks of UIKit and SwiftUI to the state machine, line by line.
///
/// A line is `5 s`, `scene B background`, or the name of a controller with callbacks in their order, such as
/// `list viewWillAppear viewDidAppear`. `list@B` is in the scene B, without it in A. `viewDidDisappear(closing)` is one during
/// which UIKit says that the controller is dismissed or moves from its parent. Callbacks that the library does not observe
/// are played, too, since a script states all that UIKit calls.
struct Script {
    var machine = ScreenMachine()
    private(set) var events: [ScreenEvent] = []
    private var now = ContinuousClock.now
    private var ids: [String: Int] = [:]
    /// The containers of controllers, by their names.
    private let containers: [String: String]

    struct Unknown: Error { let line: String }

    init(containers: [String: String] = [:]) { self.containers = containers }

    /// What the library reports of a script.
    static func report(containers: [String: String] = [:], _ text: String) throws -> [String] {
        var script = Script(containers: containers)
        try script.play(text)
        return script.events.map(Self.describe)
    }

    static func describe(_ event: ScreenEvent) -> String {
        let scene = event.scene == "A" ? "" : "@\(event.scene)"
        let time = event.isVisible ? "" : " after \(event.visibleTime.components.seconds)"
        return "\(event.screen)\(scene) \(event.isVisible ? "appeared" : "disappeared"): \(event.reason)\(time)"
    }

    mutating func play(_ text: String) throws {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            if words.count == 2, words[1] == "s", let seconds = Int(words[0]) {
                now += .seconds(seconds)
            } else if words.count == 3, words[0] == "scene" {
                receive(.scene(words[1], try Self.change(words[2], line: line)))
            } else {
                for callback in words.dropFirst() { try play(callback, of: words[0], line: String(line)) }
            }
        }
    }

    mutating func receive(_ signal: ScreenMachine.Signal) { events += machine.receive(signal, at: now) }

    private static func change(_ word: String, line: Substring) throws -> ScreenMachine.SceneChange {
        switch word {
        case "foreground": .foreground
        case "background": .background
        case "disconnected": .disconnected
        default: throw Unknown(line: String(line))
        }
    }

    private mutating func play(_ callback: String, of controller: String, line: String) throws {
        let parts = controller.split(separator: "@").map(String.init)
        let (name, scene) = (parts[0], parts.count > 1 ? parts[1] : "A")
        let id = id(of: controller)
        switch callback {
        case "viewDidAppear", "onAppear":
            receive(
                .appeared(.init(id: id, name: name, scene: scene, container: containers[name].map { self.id(of: $0) })))
        case "viewDidAppear(background)":
            receive(.appeared(.init(id: id, name: name, scene: scene, isForeground: false)))
        case "viewDidDisappear", "onDisappear": receive(.disappeared(id, isClosed: false))
        case "viewDidDisappear(closing)": receive(.disappeared(id, isClosed: true))
        case "deinit": receive(.released(id))
        case "viewDidLoad", "viewWillAppear", "viewIsAppearing", "viewWillDisappear": break
        default: throw Unknown(line: line)
        }
    }

    private mutating func id(of controller: String) -> Int {
        let id = ids[controller] ?? ids.count + 1
        ids[controller] = id
        return id
    }
}
