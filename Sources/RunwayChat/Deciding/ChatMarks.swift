import Runway
import RunwayFormats

/// The marks of the members of a conversation, which state how far each has received and read, and the schedule of the
/// calls that move this member's mark. A pure state machine: callers pass the time.
struct ChatMarks: Sendable {
    private let member: String
    private let options: ChatOptions
    private(set) var all: [MemberName: ChatMark] = [:]
    private(set) var readNumber: Int64 = 0
    /// The reason why the server refuses the member's mark; `nil` if it does not. While it is set, the mark is not sent
    /// until the next connection.
    private(set) var refusal: String?
    private var isMoving = false
    private var pause = Backoff.ofChat

    init(of member: String, _ options: ChatOptions) { (self.member, self.options) = (member, options) }

    /// Merges a member's mark from the server, which states how far the member has received and read. A mark never
    /// moves back.
    mutating func merge(_ mark: ChatMark) {
        let name = MemberName(mark.member)
        let old = all[name]
        guard old != nil || all.count < options.maximumMemberCount || name == MemberName(member) else { return }
        all[name] = ChatMark(
            member: mark.member, delivered: max(old?.delivered ?? 0, mark.delivered),
            read: max(old?.read ?? 0, mark.read))
        // The member may have read more on another device.
        if name == MemberName(member) { readNumber = max(readNumber, mark.read) }
    }

    /// Discards the marks of all members, since the server's message numbering is new.
    mutating func restart() { (all, readNumber) = ([:], 0) }

    mutating func read(upTo number: Int64) { readNumber = max(readNumber, number) }

    mutating func restore(_ marks: [ChatMark], readNumber: Int64) {
        all = Dictionary(marks.map { (MemberName($0.member), $0) }) { $1 }
        self.readNumber = readNumber
    }
}

// The functions that decide when the client sends its own member's mark. `last` is the number up to which every message
// has arrived; `nil` before the first page.
extension ChatMarks {
    /// Returns this member's mark if it has to be sent; `nil` if the server has it already, or refuses it.
    private func wanted(_ last: Int64?) -> ChatMark? {
        guard let last, refusal == nil else { return nil }
        let known = all[MemberName(member)] ?? ChatMark(member: member, delivered: 0, read: 0)
        guard last > known.delivered || readNumber > known.read else { return nil }
        return ChatMark(
            member: member, delivered: max(last, known.delivered), read: max(readNumber, known.read))
    }

    /// Returns the time at which this member's mark can be sent; `nil` if there is nothing to send, or a call is in
    /// flight.
    func deadline(_ last: Int64?) -> Duration? { !isMoving && wanted(last) != nil ? pause.end : nil }

    /// Returns this member's mark if it has to be sent now; `nil` if there is nothing to send yet.
    mutating func next(_ last: Int64?, at now: Duration) -> ChatMark? {
        guard !isMoving, now >= pause.end, let mark = wanted(last) else { return nil }
        isMoving = true
        return mark
    }

    /// Allows the client to send a refused mark again, since the stream has a new connection.
    mutating func connected() { refusal = nil }

    mutating func stop() { (isMoving, pause) = (false, .ofChat) }

    /// Records that the server has moved this member's mark.
    ///
    /// - Returns: `false` if no call was in flight.
    mutating func moved(
        _ mark: ChatMark, _ last: Int64?, at now: Duration, _ random: inout any RandomNumberGenerator & Sendable
    ) -> Bool {
        guard isMoving else { return false }
        isMoving = false
        merge(mark)
        // If the server did not move the mark, the client waits longer before it repeats the call.
        if wanted(last) == nil {
            pause.reset()
            pause.end = now + options.markInterval
        } else {
            pause.fail(at: now, using: &random)
        }
        return true
    }

    /// Records that a call to move this member's mark failed.
    ///
    /// - Returns: `false` if no call was in flight.
    mutating func moveFailed(
        _ failure: ChatMachine.Failure, at now: Duration, _ random: inout any RandomNumberGenerator & Sendable
    ) -> Bool {
        guard isMoving else { return false }
        if case .refused(let reason) = failure { refusal = reason }
        isMoving = false
        pause.fail(at: now, using: &random)
        return true
    }
}
