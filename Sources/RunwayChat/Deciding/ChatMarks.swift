import Runway
import RunwayFormats

/// How far the members of a conversation have received and read it, and when the mark of this member is moved. Pure:
/// times are passed to it.
struct ChatMarks: Sendable {
    private let member: String
    private let options: ChatOptions
    private(set) var all: [MemberName: ChatMark] = [:]
    /// The number up to which the member has read.
    private(set) var readNumber: Int64 = 0
    /// Why the server refuses the mark of the member: none is sent until the next connection. `nil` if it does not.
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

    /// The server numbers its messages anew.
    mutating func restart() { (all, readNumber) = ([:], 0) }

    /// The member has read all messages up to a number.
    mutating func read(upTo number: Int64) { readNumber = max(readNumber, number) }

    /// Continues where an earlier run stopped.
    mutating func restore(_ marks: [ChatMark], readNumber: Int64) {
        all = Dictionary(marks.map { (MemberName($0.member), $0) }) { $1 }
        self.readNumber = readNumber
    }
}

// The mark of this member. The number up to which every message has come is passed to it; `nil` before the first page.
extension ChatMarks {
    /// The mark that the server should have; `nil` if it has it, or refuses it.
    private func wanted(_ last: Int64?) -> ChatMark? {
        guard let last, refusal == nil else { return nil }
        let known = all[MemberName(member)] ?? ChatMark(member: member, delivered: 0, read: 0)
        guard last > known.delivered || readNumber > known.read else { return nil }
        return ChatMark(
            member: member, delivered: max(last, known.delivered), read: max(readNumber, known.read))
    }

    /// When the mark can be moved; `nil` if it need not be, or is being moved.
    func deadline(_ last: Int64?) -> Duration? { !isMoving && wanted(last) != nil ? pause.end : nil }

    /// Returns the mark that is sent now; `nil` if none is.
    mutating func next(_ last: Int64?, at now: Duration) -> ChatMark? {
        guard !isMoving, now >= pause.end, let mark = wanted(last) else { return nil }
        isMoving = true
        return mark
    }

    /// A connection of the stream began: a mark that was refused is sent again.
    mutating func connected() { refusal = nil }

    /// The call in flight was cancelled.
    mutating func stop() { (isMoving, pause) = (false, .ofChat) }

    /// The server has moved the mark.
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

    /// The mark could not be moved.
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
