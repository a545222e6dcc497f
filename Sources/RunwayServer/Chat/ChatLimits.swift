/// The limits of a ``ChatService``.
///
/// A member's name has at most 128 bytes of UTF-8. A page has at most 200 messages, whose texts have 256 KiB of UTF-8
/// together, and at least one message.
public struct ChatLimits: Sendable, Hashable {
    /// The longest name of a member, in bytes of UTF-8.
    static let maximumMemberByteCount = 128
    /// The most messages of a page.
    static let maximumPageCount = 200
    /// The interval at which ``ChatService/run()`` looks for unpublished messages.
    static let sweepInterval = Duration.seconds(5)

    /// The longest text, in bytes of UTF-8. The default is 16 KiB. Raise it for long texts, up to 170 KiB: the event of
    /// a message has to fit a line of 1 MiB.
    public var maximumTextByteCount = 16 << 10
    /// The most members of a conversation, and of the marks and present members of a page. The default is 1,000. Raise
    /// it for larger groups, whose every page then lists more marks.
    public var maximumMemberCount = 1000
    /// The most bytes of the texts of a page, in UTF-8.
    package var maximumPageByteCount = 256 << 10

    /// Creates limits with their defaults.
    public init() {}
}
