/// Configures the controllers of an app by rules, and reports which screens its user sees.
///
/// ```swift
/// let screens = Screens(rules)
/// screens.delegate = journal
/// ```
///
/// On UIKit, call `screens.install()` once to observe controllers. In SwiftUI, apply `.screens(screens)` to the root
/// view of each window, and `.screen("orders")` to each view that is a screen. Controllers need neither a base class
/// nor a line of code: without rules, and without this library, each controller runs unchanged.
///
/// An app has one object of this class. It remembers at most 256 screens, including hidden ones, and 64 windows.
@MainActor public final class Screens {
    /// Receives each event. It is held weakly.
    public weak var delegate: (any ScreensDelegate)?
    /// Is called with each event, after the delegate. Use it to write events to a log in one line.
    public var onEvent: (@MainActor (ScreenEvent) -> Void)?

    let rules: [ScreenRule]
    private let now: () -> ContinuousClock.Instant
    private var machine = ScreenMachine()
    private var lastNumber = 0
    /// Events that are not reported yet, since the delegate has not returned from an earlier one.
    private var waiting: [ScreenEvent] = []
    private var isReporting = false

    /// Creates an object that observes nothing yet.
    ///
    /// - Parameter rules: The rules, those for base classes first. By default none, for an app of SwiftUI.
    public convenience init(_ rules: [ScreenRule] = []) { self.init(rules, now: { .now }) }

    init(_ rules: [ScreenRule], now: @escaping () -> ContinuousClock.Instant) {
        self.rules = rules
        self.now = now
    }

    /// Whether a bundle is the app's own or inside it, such as its frameworks, by their paths.
    static func isOwn(_ bundle: String, of app: String) -> Bool { bundle == app || bundle.hasPrefix("\(app)/") }

    /// Returns a number that no other controller, view or scene has.
    func makeNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Reports the events that follow from a signal, in their order: also if the delegate shows a screen meanwhile.
    ///
    /// - Parameter instant: When the signal came, by default now.
    func receive(_ signal: ScreenMachine.Signal, at instant: ContinuousClock.Instant? = nil) {
        waiting += machine.receive(signal, at: instant ?? now())
        guard !isReporting else { return }
        isReporting = true
        defer { isReporting = false }
        while !waiting.isEmpty {
            let event = waiting.removeFirst()
            delegate?.screens(self, didReport: event)
            onEvent?(event)
        }
    }
}

/// Receives an event when a screen appears in front of the user or disappears.
@MainActor public protocol ScreensDelegate: AnyObject {
    /// Is called when a screen has appeared or disappeared. It must return at once.
    func screens(_ screens: Screens, didReport event: ScreenEvent)
}
