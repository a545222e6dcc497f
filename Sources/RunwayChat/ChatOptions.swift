/// The limits of a conversation on a client.
///
/// These limits are fixed:
///
/// - A page has at most 100 messages.
/// - After an interruption the client fetches at most 1,000 missed messages. If more are missing, the screen starts
///   again with the newest messages, and ``ChatConversation/loadOlder()`` loads the messages before them.
/// - ``ChatConversation/loadOlder()`` shows up to 8,000 messages beyond ``maximumMessageCount``, until the member has
///   read the last message.
/// - At most 1,000 messages wait to be sent. At most 500 received messages wait for missing messages before them.
/// - The client stores the marks of at most 1,000 members, and moves this member's mark at most once a second.
public struct ChatOptions: Sendable, Hashable {
    static let maximumDraftCount = 1000
    /// The time after which the client fetches a message that the server has stored but the stream has not delivered.
    static let proofTime = Duration.seconds(5)

    /// The maximum number of messages that are shown. The client removes the oldest ones beyond this limit from memory;
    /// ``ChatConversation/loadOlder()`` loads them again. The default is 2,000. Raise it if members scroll far back;
    /// this needs more memory.
    public var maximumMessageCount = 2000
    /// The maximum number of messages that the client stores for the next start of the app. The default is 200. Raise
    /// it to show more messages before the device has a network.
    public var maximumStoredCount = 200
    /// The maximum time for which the offline queue holds back a message until the stream has caught up. The time
    /// starts when the message could be sent. The default is 10 s.
    ///
    /// Other calls of the account in the same queue wait, too. Lower the value if sending soon matters more than the
    /// order on the screen.
    public var maximumQueueDelay = Duration.seconds(10)

    /// The maximum number of messages beyond ``maximumMessageCount`` that are shown after
    /// ``ChatConversation/loadOlder()``.
    package var maximumOlderCount = 8000
    /// The number of messages that a call asks for; the server may return fewer.
    package var pageCount = 100
    /// The maximum number of missed messages that are fetched after an interruption.
    package var maximumMissedCount = 1000
    /// The maximum number of received messages that wait for an earlier message that is missing. Messages beyond it are
    /// discarded, and fetched again later.
    package var maximumEarlyCount = 500
    package var maximumMemberCount = 1000
    /// The minimum time between two calls that move this member's mark, which states how far the member has received
    /// and read.
    package var markInterval = Duration.seconds(1)

    /// Creates options with the default limits.
    public init() {}

    var maximumLoadedCount: Int {
        let (count, overflows) = maximumMessageCount.addingReportingOverflow(maximumOlderCount)
        return overflows ? .max : count
    }
}
