/// Shows screens and web pages in a window of the app.
///
/// On Apple's systems there are two: `NavigationShell` for UIKit and ``StackShell`` for SwiftUI. A shell performs, and
/// decides nothing. The ``Mediator`` holds it weakly.
@MainActor public protocol Shell: AnyObject {
    /// Shows a screen, and stores `id` with it.
    ///
    /// When the user closes the screen, the shell calls ``Mediator/didClose(_:)``.
    ///
    /// - Parameters:
    ///   - screen: The controller or view that the module made.
    ///   - id: Identifies the screen.
    ///   - page: The page, for logs. A shell that stores it also stores its ``Reply``, and must report every closed
    ///     screen.
    ///   - presentation: The way to show the screen, which takes precedence over the default of the screen.
    func show(_ screen: Screen, id: ScreenID, of page: any Page, as presentation: Presentation)

    /// Shows a web page of the app's site.
    ///
    /// The web view of the shell asks ``Mediator/navigate(to:in:)`` about each later navigation of its main frame, and
    /// does what that returns. It does not ask about `address` itself.
    func showWeb(_ address: String)

    /// Closes a screen, without a call of ``Mediator/didClose(_:)``. Does nothing if the screen is closed already.
    func close(_ id: ScreenID)
}

/// Identifies a screen that a mediator has shown.
public struct ScreenID: Hashable, Sendable {
    let number: Int
}
