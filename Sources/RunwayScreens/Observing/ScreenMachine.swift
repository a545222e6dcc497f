/// Decides which screens are visible, and turns the reports of UIKit and SwiftUI into events.
///
/// A screen is visible while its view is in a window whose scene is in the foreground. Reports may come in any order,
/// twice or never: each appearance still has one disappearance, and no time is negative.
struct ScreenMachine {
    typealias Instant = ContinuousClock.Instant

    /// A report.
    enum Signal: Hashable, Sendable {
        /// A view is in a window: `viewDidAppear`, `onAppear`.
        case appeared(Appearance)
        /// A view is in no window any more: `viewDidDisappear`, `onDisappear`.
        case disappeared(Int, isClosed: Bool)
        /// A controller or view exists no more.
        case released(Int)
        /// A scene changed.
        case scene(String, SceneChange)
    }

    struct Appearance: Hashable, Sendable {
        let id: Int
        let name: String
        let scene: String
        /// The screen that contains this one.
        var container: Int?
        /// Whether the scene is in the foreground. Counts only until the scene itself reports a change.
        var isForeground = true
    }

    enum SceneChange: Hashable, Sendable { case foreground, background, disconnected }

    private struct Screen {
        var appearance: Appearance
        var isInWindow = true
        var hasBeenVisible = false
        /// When the screen became visible; `nil` while it is not.
        var visibleSince: Instant?
        var total = Duration.zero
    }

    static let maximumScreens = 256
    static let maximumScenes = 64

    /// Screens that exist, also those that are hidden, oldest first.
    private var screens: [Screen] = []
    private var scenes: [(id: String, isForeground: Bool)] = []

    /// How many screens and scenes are remembered.
    var count: (screens: Int, scenes: Int) { (screens.count, scenes.count) }

    /// Returns the events that follow from a report, the innermost screen first if several disappear.
    mutating func receive(_ signal: Signal, at now: Instant) -> [ScreenEvent] {
        switch signal {
        case .appeared(let appearance): appear(appearance, now)
        case .disappeared(let id, let isClosed): disappear(id, isClosed ? .closed : .hidden, now)
        case .released(let id): forget(where: { $0.appearance.id == id }, .lost, now)
        case .scene(let id, .foreground): change(id, isForeground: true, now)
        case .scene(let id, .background): change(id, isForeground: false, now)
        case .scene(let id, .disconnected): disconnect(id, now)
        }
    }

    // MARK: Screens

    private mutating func appear(_ new: Appearance, _ now: Instant) -> [ScreenEvent] {
        var events: [ScreenEvent] = []
        if !scenes.contains(where: { $0.id == new.scene }) {
            events += change(new.scene, isForeground: new.isForeground, now)
        }
        if let old = screens.first(where: { $0.appearance.id == new.id }) {
            let isSame = old.appearance.name == new.name && old.appearance.scene == new.scene
            // A swipe back that was cancelled ends in a second report.
            if isSame && old.isInWindow { return events }
            // A controller that moved to another window, or shows something else, is another screen.
            if !isSame { events += forget(where: { $0.appearance.id == new.id }, .hidden, now) }
        }
        if let index = screens.firstIndex(where: { $0.appearance.id == new.id }) {
            screens[index].appearance = new
            screens[index].isInWindow = true
            return events + show(index, .returned, now)
        }
        if screens.count == Self.maximumScreens {
            let oldest = screens[screens.firstIndex { !$0.isInWindow } ?? 0].appearance.id
            events += forget(where: { $0.appearance.id == oldest }, .lost, now)
        }
        screens.append(Screen(appearance: new))
        return events + show(screens.endIndex - 1, .returned, now)
    }

    private mutating func disappear(_ id: Int, _ reason: ScreenEvent.Reason, _ now: Instant) -> [ScreenEvent] {
        guard let index = screens.firstIndex(where: { $0.appearance.id == id && $0.isInWindow }) else { return [] }
        screens[index].isInWindow = false
        // A container that forwards callbacks itself may forget some. What it contains is in no window, either.
        let contained = screens.filter { $0.appearance.container == id }.map(\.appearance.id)
        var events = contained.flatMap { disappear($0, reason, now) }
        if reason == .closed {
            events += forget(where: { $0.appearance.id == id }, reason, now)
        } else {
            events += hide(index, reason, now)
        }
        return events
    }

    private mutating func forget(
        where isForgotten: (Screen) -> Bool, _ reason: ScreenEvent.Reason, _ now: Instant
    ) -> [ScreenEvent] {
        let events = screens.indices.reversed().filter { isForgotten(screens[$0]) }.flatMap { hide($0, reason, now) }
        screens.removeAll(where: isForgotten)
        return events
    }

    /// Makes a screen visible, unless its scene is in the background.
    private mutating func show(_ index: Int, _ reason: ScreenEvent.Reason, _ now: Instant) -> [ScreenEvent] {
        let screen = screens[index]
        guard scenes.contains(where: { $0.id == screen.appearance.scene && $0.isForeground }) else { return [] }
        screens[index].visibleSince = now
        screens[index].hasBeenVisible = true
        return [event(index, isVisible: true, screen.hasBeenVisible ? reason : .opened, .zero)]
    }

    private mutating func hide(_ index: Int, _ reason: ScreenEvent.Reason, _ now: Instant) -> [ScreenEvent] {
        guard let since = screens[index].visibleSince else { return [] }
        // A clock may step back.
        let visible = max(.zero, since.duration(to: now))
        screens[index].visibleSince = nil
        screens[index].total += visible
        return [event(index, isVisible: false, reason, visible)]
    }

    private func event(
        _ index: Int, isVisible: Bool, _ reason: ScreenEvent.Reason, _ visible: Duration
    ) -> ScreenEvent {
        let screen = screens[index]
        return ScreenEvent(
            screen: screen.appearance.name, scene: screen.appearance.scene, id: screen.appearance.id,
            isVisible: isVisible, reason: reason, visibleTime: visible, totalVisibleTime: screen.total)
    }

    // MARK: Scenes

    private mutating func change(_ id: String, isForeground: Bool, _ now: Instant) -> [ScreenEvent] {
        var events: [ScreenEvent] = []
        if let index = scenes.firstIndex(where: { $0.id == id }) {
            scenes[index].isForeground = isForeground
        } else {
            if scenes.count == Self.maximumScenes {
                events += disconnect(scenes[scenes.firstIndex { !$0.isForeground } ?? 0].id, now)
            }
            scenes.append((id, isForeground))
        }
        let inWindow = screens.indices.filter { screens[$0].appearance.scene == id && screens[$0].isInWindow }
        if isForeground {
            for index in inWindow where screens[index].visibleSince == nil { events += show(index, .foreground, now) }
        } else {
            for index in inWindow.reversed() { events += hide(index, .background, now) }
        }
        return events
    }

    private mutating func disconnect(_ id: String, _ now: Instant) -> [ScreenEvent] {
        scenes.removeAll { $0.id == id }
        return forget(where: { $0.appearance.scene == id }, .disconnected, now)
    }
}
