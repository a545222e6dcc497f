import Runway
import RunwayFormats

/// The marks of the members of a conversation, and the moments at which the mark of this member is moved. Pure: times
/// are passed to it.
struct ChatMarks: Sendable {
    private let member: String
    private let options: ChatOptions
    private(set) var all: [MemberName: ChatMark] = [:]
    /// The number up to which the member has read.
    private(set) var readNumber: Int64 = 0
    /// The reason why the server refuses the mark of the member; `nil` if it does not. If there is a reason, no mark is
    /// sent until the next connection.
    private(set) var refusal: String?
    private var isMoving = false
    private var pause = Backoff.ofChat

    init(of member: String, _ options: ChatOptions) { (self.member, self.options) = (member, options) }

    /// Takes a mark of the server. A mark moves only forward.
    mutating func merge(_ mark: ChatMark) {
        let name = MemberName(mark.member)
        let old = all[name]
        guard old != nil || all.count < options.maximumMemberCount || name == MemberName(member) else { return }
        all[name] = ChatMark(
            member: mark.member, delivered: max(old?.delivered ?? 0, mark.delivered),
            read: max(old?.read ?? 0, mark.read))
        // Another device of the member may have read more.
        if name == MemberName(member) { readNumber = max(readNumber, mark.read) }
    }

    /// Discards all marks: the server numbers its messages anew.
    mutating func restart() { (all, readNumber) = ([:], 0) }

    /// Notes that the member has read all messages up to a number.
    mutating func read(upTo number: Int64) { readNumber = max(readNumber, number) }

    /// Continues where an earlier run stopped.
    mutating func restore(_ marks: [ChatMark], readNumber: Int64) {
        all = Dictionary(marks.map { (MemberName($0.member), $0) }) { $1 }
        self.readNumber = readNumber
    }
}

// The mark of this member. The number up to which every message has arrived is passed to these functions; `nil` before
// the first page.
extension ChatMarks {
    /// Returns the mark that the server should have; `nil` if the server has it, or refuses it.
    private func wanted(_ last: Int64?) -> ChatMark? {
        guard let last, refusal == nil else { return nil }
        let known = all[MemberName(member)] ?? ChatMark(member: member, delivered: 0, read: 0)
        guard last > known.delivered || readNumber > known.read else { return nil }
        return ChatMark(
            member: member, delivered: max(last, known.delivered), read: max(readNumber, known.read))
    }

    /// Returns the time at which the mark can be moved; `nil` if it need not be moved, or is being moved.
    func deadline(_ last: Int64?) -> Duration? { !isMoving && wanted(last) != nil ? pause.end : nil }

    /// Returns the mark that is sent now; `nil` if none is.
    mutating func next(_ last: Int64?, at now: Duration) -> ChatMark? {
        guard !isMoving, now >= pause.end, let mark = wanted(last) else { return nil }
        isMoving = true
        return mark
    }

    /// Notes that a connection of the stream began: a refused mark is sent again.
    mutating func connected() { refusal = nil }

    /// Notes that the call in flight was cancelled.
    mutating func stop() { (isMoving, pause) = (false, .ofChat) }

    /// Notes that the server has moved the mark.
    ///
    /// - Returns: `false` if no call was in flight.
    mutating func moved(
        _ mark: ChatMark, _ last: Int64?, at now: Duration, _ random: inout any RandomNumberGenerator & Sendable
    ) -> Bool {
        guard isMoving else { return false }
        isMoving = false
        merge(mark)
        // A server that does not move the mark is not asked again at once.
        if wanted(last) == nil {
            pause.reset()
            pause.end = now + options.markInterval
        } else {
            pause.fail(at: now, using: &random)
        }
        return true
    }

    /// Notes that the mark could not be moved.
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
