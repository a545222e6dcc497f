/// The limits of a ``ChatService``.
///
/// A member's name has at most 128 bytes of UTF-8. A page has at least one and at most 200 messages; its texts have at
/// most 256 KiB of UTF-8 in total, unless it has only one message.
public struct ChatLimits: Sendable, Hashable {
    /// The maximum length of a member's name, in bytes of UTF-8.
    static let maximumMemberByteCount = 128
    static let maximumPageCount = 200
    static let sweepInterval = Duration.seconds(5)

    /// The maximum length of a text, in bytes of UTF-8. The default is 16 KiB. Raise it for long texts, up to 170 KiB:
    /// the event of a message must fit in a line of 1 MiB.
    public var maximumTextByteCount = 16 << 10
    /// The maximum number of members of a conversation. The default is 1,000. A page lists at most as many read marks
    /// and present members. Raise it for larger groups; their pages then list more marks.
    public var maximumMemberCount = 1000
    /// The maximum size of the texts in a page, in bytes of UTF-8.
    package var maximumPageByteCount = 256 << 10

    /// Creates limits with the default values.
    public init() {}
}
