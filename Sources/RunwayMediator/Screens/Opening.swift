/// The wait of one caller for the result of a page.
@MainActor final class Opening {
    /// The screen, once it is shown.
    var screen: ScreenID?
    /// The shell that shows the screen.
    weak var shell: (any Shell)?
    /// Whether nobody waits any more.
    var isEnded = false
    let end: @Sendable (MediatorError) -> Void

    init(end: @escaping @Sendable (MediatorError) -> Void) { self.end = end }
}

/// A page that has to be opened.
struct PageRequest {
    let page: any Page
    let presentation: Presentation?
    /// The shell of the window in which the page was asked for; `nil` for the mediator's shell.
    weak var shell: (any Shell)?
    /// Whether the web site is shown if the page can't be.
    let opensSite: Bool
    /// The guards whose pages were opened for this request; none is opened twice.
    var redirections: Set<String> = []
    var opening: Opening?
}

/// A request to open a page. It continues when the page of its guard is done.
struct WaitingPage {
    let request: PageRequest
    let redirection: Waiter<Void>
}

/// The result of a request to open a page.
public enum Outcome: Hashable, Sendable {
    /// The page is shown.
    case shown
    /// The page opens later: when the page of a guard is done, or when the mediator receives a shell.
    case waiting
    /// The web site shows this address instead.
    case web(String)
    /// Nothing is shown.
    case refused(MediatorError)
}
