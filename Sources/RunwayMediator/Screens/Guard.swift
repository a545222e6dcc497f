/// A condition under which pages may be shown: the user is signed in, a feature is on.
///
/// The app creates it and passes it to modules, which return it from ``Module/guards(for:)``:
///
/// ```swift
/// let signedIn = Guard("signedIn", redirectingTo: AccountPage.signIn) { session.isSignedIn }
/// let payments = Guard("payments") { features.payments }
/// ```
@MainActor public struct Guard {
    /// Identifies the condition: two guards of one name are the same.
    public let name: String
    let isOpen: @MainActor () -> Bool
    let redirection: Redirection?

    /// Opens the page that can fulfil the condition.
    typealias Redirection = (Reply<Void>) -> any Page

    /// Creates a condition that no page can fulfil.
    ///
    /// While `isOpen` is false, the web page at the same path is shown instead of the page.
    ///
    /// - Parameters:
    ///   - name: Identifies the condition.
    ///   - isOpen: Is called at each opening. It must return at once.
    public init(_ name: String, isOpen: @escaping @MainActor () -> Bool) {
        self.name = name
        self.isOpen = isOpen
        redirection = nil
    }

    /// Creates a condition that a page can fulfil, such as one that signs in.
    ///
    /// While `isOpen` is false, that page is shown first. When it finishes its reply, it is closed, and `isOpen` is
    /// called again: if it returns `true`, the page that was asked for opens, otherwise that page is refused. If the
    /// page is closed, nothing more opens. One page waits for each guard: a newer one replaces it.
    ///
    /// - Parameters:
    ///   - name: Identifies the condition.
    ///   - page: A case with one parameter, a `Reply<Void>`.
    ///   - isOpen: Is called at each opening. It must return at once.
    public init<Redirect: Page>(
        _ name: String, redirectingTo page: @escaping (Reply<Void>) -> Redirect, isOpen: @escaping @MainActor () -> Bool
    ) {
        self.name = name
        self.isOpen = isOpen
        redirection = { page($0) }
    }
}
