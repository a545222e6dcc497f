/// Returns the result of a page to the code that opened it.
///
/// A page that returns something has a reply among its parameters:
///
/// ```swift
/// enum AccountPage: Page {
///     static let module = "account"
///     case signIn(Reply<Void>), pickAddress(Reply<Address>), pickNear(city: String, Reply<Address>)
/// }
/// ```
///
/// The screen stores the reply, and calls ``finish(_:)`` when it has a result. If the last copy of the reply is
/// released before, the caller receives ``MediatorError/Kind/closed``: no caller waits for a screen that no longer
/// exists.
///
/// Addresses do not contain replies. If a page was opened by an address, or with `Reply()`, no caller waits for its
/// result. Two replies are equal if they belong to the same call of ``Mediator/result(of:as:in:)``, or if both belong
/// to none.
public struct Reply<Value: Sendable>: Codable, Hashable, Sendable {
    private let end: ReplyEnd<Value>?

    /// Creates a reply for which nobody waits.
    public init() { end = nil }

    init(to waiter: Waiter<Value>) { end = ReplyEnd(waiter) }

    /// Creates a reply for which nobody waits.
    public init(from decoder: any Decoder) { end = nil }

    /// Writes nothing.
    public func encode(to encoder: any Encoder) {}

    /// Returns `value` to the caller, and lets the mediator close the page.
    ///
    /// - Returns: Whether a caller was waiting. If not, the screen has to close itself.
    @discardableResult public func finish(_ value: Value) -> Bool { end?.waiter.end(with: .success(value)) ?? false }

    /// Compares the calls to which the replies belong.
    public static func == (one: Reply, other: Reply) -> Bool { one.end === other.end }

    /// Hashes the call to which the reply belongs.
    public func hash(into hasher: inout Hasher) { hasher.combine(end.map(ObjectIdentifier.init)) }
}

extension Reply where Value == Void {
    /// Notifies the caller that the page is done, and lets the mediator close the page.
    ///
    /// - Returns: Whether a caller was waiting. If not, the screen has to close itself.
    @discardableResult public func finish() -> Bool { finish(()) }
}

/// Is owned by the copies of a reply, and ends the wait when the last of them is released.
private final class ReplyEnd<Value: Sendable>: Sendable {
    let waiter: Waiter<Value>
    init(_ waiter: Waiter<Value>) { self.waiter = waiter }
    deinit { waiter.end(with: .failure(.pageClosed)) }
}

extension MediatorError {
    static let pageClosed = MediatorError(.closed, "the page was closed before it returned a result")
}
