import Synchronization

/// The period from an account's sign-in to its sign-out, for the calls of one service.
///
/// Each call holds the session in which it was made. After the session has ended, responses to its calls are not
/// cached, its cookies and tokens are not stored, and no manager delivers the results of its calls.
///
/// A sign-out first ends the session and then clears its data. Cookies and tokens check ``isOver`` under the lock that
/// guards them, so a change either precedes the clear or is refused. The caches instead compare the sequence number of
/// a call with the sequence number of the clear.
///
/// Calls that are made while no account is signed in have an anonymous session. It ends at the next sign-in or
/// sign-out. After that, its calls neither send nor set cookies.
final class AccountSession: Sendable {
    /// The account of the session; `nil` for an anonymous session.
    let account: String?
    private let isEnded = Atomic(false)
    private let isCancelling = Atomic(false)

    init(account: String?) { self.account = account }

    /// Whether the account has signed out since the session began. An anonymous session is over when any account has
    /// signed in or out.
    var isOver: Bool { isEnded.load(ordering: .acquiring) }
    /// Whether the session's calls were cancelled when it ended.
    var areCallsCancelled: Bool { isCancelling.load(ordering: .acquiring) }

    /// Ends the session. A second call has an effect only if it also cancels the calls.
    func end(cancellingCalls: Bool) {
        if cancellingCalls { isCancelling.store(true, ordering: .releasing) }
        isEnded.store(true, ordering: .releasing)
    }
}

extension AccountSession: Hashable {
    /// Returns whether both are the same session. A later session of the same account is different.
    static func == (lhs: AccountSession, rhs: AccountSession) -> Bool { lhs === rhs }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
