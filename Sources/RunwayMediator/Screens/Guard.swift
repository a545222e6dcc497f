/// A condition under which pages may be shown: the user is signed in, a feature is on.
///
/// The app creates it and passes it to modules, which return it from ``Module/guards(for:)``:
///
/// ```swift
/// let signedIn = Guard("signedIn", redirectingTo: AccountPage.signIn) { session.isSignedIn }
/// let payments = Guard("payments") { features.payments }
/// ```
@MainActor public struct Guard {
    /// Identifies the condition: two guards with the same name count as one.
    public let name: String
    let isOpen: @MainActor () -> Bool
    let redirection: Redirection?

    /// Opens the page that can fulfil the condition.
    typealias Redirection = (Reply<Void>) -> any Page

    /// Creates a condition that no page can fulfil.
    ///
    /// While `isOpen` returns `false`, the web site is shown at the same path instead of the page.
    ///
    /// - Parameters:
    ///   - name: Identifies the condition.
    ///   - isOpen: Returns whether the condition is fulfilled. It is called each time a page opens, and must return at
    ///     once.
    public init(_ name: String, isOpen: @escaping @MainActor () -> Bool) {
        self.name = name
        self.isOpen = isOpen
        redirection = nil
    }

    /// Creates a condition that a page can fulfil, such as one that signs in.
    ///
    /// While `isOpen` returns `false`, the page of the guard is shown first, and the requested page waits. When the
    /// page of the guard finishes its reply, it is closed, and `isOpen` is called again: the requested page then opens
    /// if `isOpen` returns `true`, and is refused otherwise. If the user closes the page of the guard, the requested
    /// page does not open. Only one page waits at each guard: a newer request replaces it.
    ///
    /// - Parameters:
    ///   - name: Identifies the condition.
    ///   - page: A case with one parameter, a `Reply<Void>`.
    ///   - isOpen: Returns whether the condition is fulfilled. It is called each time a page opens, and must return at
    ///     once.
    public init<Redirect: Page>(
        _ name: String, redirectingTo page: @escaping (Reply<Void>) -> Redirect, isOpen: @escaping @MainActor () -> Bool
    ) {
        self.name = name
        self.isOpen = isOpen
        redirection = { page($0) }
    }
}
