/// The bounds of a conversation on a client.
public struct ChatOptions: Sendable, Hashable {
    /// The most messages that are shown; the oldest beyond that are removed from memory, and can be loaded again. The
    /// default is 2,000.
    public var maximumMessageCount = 2000
    /// The most messages beyond ``maximumMessageCount`` that are shown after ``ChatConversation/loadOlder()``, until
    /// the member has read the last message. The default is 8,000.
    public var maximumOlderCount = 8000
    /// The most messages that are stored between two starts of the app. The default is 200.
    public var maximumStoredCount = 200
    /// The most messages of a page. The default is 100; the server may return fewer.
    public var pageCount = 100
    /// The most messages that are fetched after an interruption. If more are missing, the screen begins anew with the
    /// last ones, and those before them can be loaded as older messages. The default is 1,000.
    public var maximumMissedCount = 1000
    /// The most messages that wait because others before them are missing. The default is 500; further ones are
    /// fetched.
    public var maximumEarlyCount = 500
    /// The most messages that wait to be sent. The default is 1,000.
    public var maximumDraftCount = 1000
    /// The most members whose marks are known. The default is 1,000.
    public var maximumMemberCount = 1000
    /// The shortest time between two calls that move the mark of this member. The default is 1 s.
    public var markInterval = Duration.seconds(1)
    /// How long a message that the server has stored may take to come by the stream before it is fetched. The default
    /// is 5 s.
    public var proofTime = Duration.seconds(5)
    /// How long messages in the offline queue wait for the stream to catch up, at most, counted from when they could be
    /// sent. The default is 10 s. Other changes of the account in the same queue wait, too.
    public var maximumQueueDelay = Duration.seconds(10)

    /// Creates options with their defaults.
    public init() {}

    /// The most messages that are shown after older ones were loaded.
    var maximumLoadedCount: Int {
        let (count, overflows) = maximumMessageCount.addingReportingOverflow(maximumOlderCount)
        return overflows ? .max : count
    }
}
