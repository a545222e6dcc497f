/// A controller or view that a module made for a page, and how it is shown by default.
@MainActor public struct Screen {
    /// How the screen is shown, unless the caller of ``Mediator/open(_:as:in:)`` chooses another way.
    public let presentation: Presentation
    private let content: Any

    /// Wraps a controller or a view.
    ///
    /// - Parameters:
    ///   - content: A value that the ``Shell`` of the app can show.
    ///   - presentation: How the screen is shown by default.
    public init<Content>(_ content: Content, as presentation: Presentation = .push) {
        self.content = content
        self.presentation = presentation
    }

    /// Returns the controller or view, or `nil` if it has another type.
    public func content<Content>(as type: Content.Type = Content.self) -> Content? { content as? Content }
}

/// A way to show a screen. A ``Shell`` performs it.
public struct Presentation: Hashable, Sendable {
    /// The name, such as `push`.
    public let name: String

    /// Creates a way of the app's own, such as `Presentation("drawer")`, which its ``Shell`` has to know.
    public init(_ name: String) { self.name = name }

    /// On top of the navigation stack that the user sees.
    public static let push = Presentation("push")
    /// Above the screen that the user sees, who can swipe it away.
    public static let sheet = Presentation("sheet")
    /// Above the whole window. The screen itself has to offer a way to close it.
    public static let cover = Presentation("cover")
    /// As the only screen of the window: it replaces all others.
    public static let root = Presentation("root")
}
