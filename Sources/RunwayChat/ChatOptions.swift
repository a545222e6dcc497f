/// The limits of a conversation on a client.
///
/// These are the same for every conversation:
///
/// - A page has at most 100 messages. After an interruption at most 1,000 are fetched; if more are missing, the screen
///   begins anew with the last ones, and those before them can be loaded as older messages.
/// - After ``ChatConversation/loadOlder()``, 8,000 messages beyond ``maximumMessageCount`` are shown until the member
///   has read the last message.
/// - At most 1,000 messages wait to be sent, and 500 because others before them are missing. The marks of 1,000 members
///   are known, and the mark of this member moves at most once a second.
public struct ChatOptions: Sendable, Hashable {
    /// The most messages that wait to be sent.
    static let maximumDraftCount = 1000
    /// The time that a message, once the server has stored it, may take to arrive by the stream before it is fetched.
    static let proofTime = Duration.seconds(5)

    /// The most messages that are shown; the oldest beyond that are removed from memory, and can be loaded again. The
    /// default is 2,000. Raise it if members scroll far back, with the memory.
    public var maximumMessageCount = 2000
    /// The most messages that are stored between two starts of the app. The default is 200. Raise it to show more
    /// before the device has a network.
    public var maximumStoredCount = 200
    /// The longest time for which messages in the offline queue wait for the stream to catch up, counted from when they
    /// could be sent. The default is 10 s. Other changes of the account in the same queue wait, too. Lower it if
    /// sending soon matters more than the order on the screen.
    public var maximumQueueDelay = Duration.seconds(10)

    /// The most messages beyond ``maximumMessageCount`` that are shown after ``ChatConversation/loadOlder()``, until
    /// the member has read the last message.
    package var maximumOlderCount = 8000
    /// The most messages of a page; the server may return fewer.
    package var pageCount = 100
    /// The most messages that are fetched after an interruption.
    package var maximumMissedCount = 1000
    /// The most messages that wait because others before them are missing; further ones are fetched.
    package var maximumEarlyCount = 500
    /// The most members whose marks are known.
    package var maximumMemberCount = 1000
    /// The shortest time between two calls that move the mark of this member.
    package var markInterval = Duration.seconds(1)

    /// Creates options with their defaults.
    public init() {}

    /// The most messages that are shown after older ones were loaded.
    var maximumLoadedCount: Int {
        let (count, overflows) = maximumMessageCount.addingReportingOverflow(maximumOlderCount)
        return overflows ? .max : count
    }
}
