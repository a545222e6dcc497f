/// A shell for tests, which records what it is asked to show, and shows nothing.
///
/// ```swift
/// let shell = RecordingShell()
/// mediator.shell = shell
/// mediator.open("app://orders/order?id=7")
/// #expect(shell.pages.last as? OrdersPage == .order(id: 7, tab: nil))
/// ```
@MainActor public final class RecordingShell: Shell {
    /// A screen that is shown.
    public struct Shown {
        /// Identifies the screen, for ``Mediator/didClose(_:)``.
        public let id: ScreenID
        /// The page, with its reply: a test can finish it.
        public let page: any Page
        /// The screen that the module made.
        public let screen: Screen
        /// The way to show it.
        public let presentation: Presentation
    }

    /// The screens that are shown, oldest first.
    public private(set) var shown: [Shown] = []
    /// The addresses of the web pages that were shown, oldest first.
    public private(set) var webAddresses: [String] = []
    /// Is called when a screen is shown, after it is in ``shown``.
    public var onShow: (@MainActor (Shown) -> Void)?

    /// Creates a shell that shows nothing yet.
    public init() {}

    /// The pages of ``shown``.
    public var pages: [any Page] { shown.map(\.page) }

    /// Records a screen.
    public func show(_ screen: Screen, id: ScreenID, of page: any Page, as presentation: Presentation) {
        let shown = Shown(id: id, page: page, screen: screen, presentation: presentation)
        self.shown.append(shown)
        onShow?(shown)
    }

    /// Records an address.
    public func showWeb(_ address: String) { webAddresses.append(address) }

    /// Removes a screen.
    public func close(_ id: ScreenID) { shown.removeAll { $0.id == id } }

    /// Removes the newest screen as its user would, and notifies the mediator.
    public func dismissLast(in mediator: Mediator) {
        if let last = shown.popLast() { mediator.didClose(last.id) }
    }
}
