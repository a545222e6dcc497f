/// The reason why a page did not open, has no address, or returned no result.
public struct MediatorError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of a refusal.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind, such as `notFound`.
        public let description: String

        private init(_ name: String) { description = name }

        /// The text is no URL by RFC 3986, is ambiguous, or is too long.
        public static let malformed = Kind("malformed")
        /// The URL has another scheme or host than those of the app.
        public static let foreign = Kind("foreign")
        /// No page of this build has the address; or no module of this build has the page.
        public static let notFound = Kind("notFound")
        /// A parameter in the address is unknown, absent, repeated or unreadable; or a page can't be written as an
        /// address.
        public static let invalid = Kind("invalid")
        /// The page may not be opened by the caller; see ``Page/reach``.
        public static let outOfReach = Kind("outOfReach")
        /// The condition of a ``Guard`` is not fulfilled, and no page could fulfil it.
        public static let shut = Kind("shut")
        /// The page was closed before it returned a result.
        public static let closed = Kind("closed")
        /// The task that waited for a result was cancelled.
        public static let cancelled = Kind("cancelled")
        /// ``Mediator/shell`` is `nil`: no window can show a page.
        public static let noShell = Kind("noShell")
        /// No module of this build supplies the service.
        public static let noService = Kind("noService")
    }

    /// The kind of the refusal.
    public let kind: Kind
    /// A sentence for developers. It names pages and parameters, and contains no value of a parameter.
    public let reason: String

    init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }

    /// The kind and the reason.
    public var description: String { "\(kind): \(reason)" }
}
