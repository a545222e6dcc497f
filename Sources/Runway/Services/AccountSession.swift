import Synchronization

/// One generation of an account: the calls of a service that are made for the account until it signs out.
///
/// Each call holds the session in which it was made. After a session has ended, responses to its calls are not cached,
/// its cookies and tokens are not stored, and no manager lands its calls. Cookies and tokens check ``isOver`` under the
/// lock that guards them, and a sign-out ends the session before it clears them: a change either precedes the clear or
/// is refused. The caches use the sequence number of the clear instead.
///
/// Calls that are made while no account is signed in have an anonymous session. It ends at the next sign-in or
/// sign-out; its calls then neither send nor set cookies.
final class AccountSession: Sendable {
    /// The account of the session; `nil` for calls that are made while no account is signed in.
    let account: String?
    private let isEnded = Atomic(false)
    private let isCancelling = Atomic(false)

    init(account: String?) { self.account = account }

    /// Whether the account has signed out since the session began; for an anonymous session, whether an account has
    /// signed in or out since.
    var isOver: Bool { isEnded.load(ordering: .acquiring) }
    /// Whether the calls of the session were cancelled when it ended.
    var areCallsCancelled: Bool { isCancelling.load(ordering: .acquiring) }

    /// Ends the session; a second call can only cancel the calls as well.
    func end(cancellingCalls: Bool) {
        if cancellingCalls { isCancelling.store(true, ordering: .releasing) }
        isEnded.store(true, ordering: .releasing)
    }
}

extension AccountSession: Hashable {
    /// Whether both are the same session. A later session of the same account is another one.
    static func == (lhs: AccountSession, rhs: AccountSession) -> Bool { lhs === rhs }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
