/// Reports that what owns it exists no more: a controller, a view, or a scene of SwiftUI.
final class Witness: Sendable {
    let number: Int
    private let screens: Screens
    private let end: ScreenMachine.Signal

    /// - Parameter end: Returns the signal of the end, from the number.
    @MainActor init(for screens: Screens, end: (Int) -> ScreenMachine.Signal) {
        number = screens.makeNumber()
        self.screens = screens
        self.end = end(number)
    }

    deinit {
        // Any thread may release the last reference, and the time is that of the release.
        Task { @MainActor [screens, end, now = ContinuousClock.now] in screens.receive(end, at: now) }
    }
}
