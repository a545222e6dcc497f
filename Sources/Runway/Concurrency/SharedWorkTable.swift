/// The state machine of ``SharedWork``: records which calls wait for which work, without tasks and locks.
///
/// A piece of work is listed under its key from its start to its end, and calls for the key join it. The calls are its
/// members. If the work is cancelled when its last member leaves, it is unlisted at that moment.
struct SharedWorkTable<Key: Hashable, Member> {
    struct MemberID: Hashable, Sendable {
        let work: UInt64
        /// The number of the call among those that share the work, counted from 0. The leader has number 0.
        let number: Int
    }

    enum Entry {
        /// The call must start the work.
        case begins(MemberID)
        /// The call joins the work that `leader` started.
        case joins(MemberID, leader: Member)
        /// The work already has its maximum number of calls. For `detail` see ``SharedWorkRules/OverflowRule``.
        case refused(detail: String)
    }

    /// The effect on the shared work when a call leaves it.
    enum Removal {
        /// The call had already left, or the shared work had already ended.
        case wasOver
        /// Other calls still share the work, so it continues.
        case left(Member)
        /// No call shares the work any more, so the work must be cancelled.
        case wasLast(Member)
    }

    private struct Work {
        let key: Key
        let leader: Member
        var members: [(number: Int, member: Member)]
        var nextNumber = 1
    }

    let rules: SharedWorkRules

    private var works: [UInt64: Work] = [:]
    private var listed: [Key: UInt64] = [:]
    private var count: UInt64 = 0

    init(_ rules: SharedWorkRules) { self.rules = rules }

    /// The number of pieces of shared work in flight.
    var workCount: Int { works.count }
    /// The number of calls that share work.
    var memberCount: Int { works.values.reduce(0) { $0 + $1.members.count } }
    var listedCount: Int { listed.count }

    /// Adds a call to the shared work for a key, or starts new work.
    ///
    /// - Parameter isJoinable: Whether other calls may share the work with this call.
    mutating func enter(_ member: Member, for key: Key, isJoinable: Bool) -> Entry {
        if isJoinable, let number = listed[key], let work = works[number] {
            if work.members.count < max(1, rules.maximumMembers) {
                works[number]?.members.append((work.nextNumber, member))
                works[number]?.nextNumber += 1
                return .joins(MemberID(work: number, number: work.nextNumber), leader: work.leader)
            }
            if case .isRefused(let detail) = rules.overflow { return .refused(detail: detail) }
        }
        count += 1
        works[count] = Work(key: key, leader: member, members: [(0, member)])
        if isJoinable, listed.count < rules.maximumListed || listed[key] != nil { listed[key] = count }
        return .begins(MemberID(work: count, number: 0))
    }

    mutating func leave(_ id: MemberID) -> Removal {
        guard let work = works[id.work], let place = work.members.firstIndex(where: { $0.number == id.number })
        else { return .wasOver }
        works[id.work]?.members.remove(at: place)
        let member = work.members[place].member
        if work.members.count > 1 || rules.abandonment == .isCompleted { return .left(member) }
        unlist(id.work, work.key)
        works[id.work] = nil
        return .wasLast(member)
    }

    /// Ends a piece of shared work. Returns its leader and its members in the order in which they joined, or `nil` if
    /// the work had already ended.
    mutating func end(_ number: UInt64) -> (leader: Member, members: [Member])? {
        guard let work = works.removeValue(forKey: number) else { return nil }
        unlist(number, work.key)
        return (work.leader, work.members.map(\.member))
    }

    /// Returns the number of the work that a call for a key joins, or `nil` if the call can join none.
    func work(for key: Key) -> UInt64? { listed[key] }

    /// Returns the calls that share a piece of work, in the order in which they joined.
    func members(of number: UInt64) -> [Member] { works[number]?.members.map(\.member) ?? [] }

    /// Prevents further calls from joining the work for certain keys. The work continues for its members.
    mutating func close(where isClosed: (Key) -> Bool) {
        listed = listed.filter { !isClosed($0.key) }
    }

    private mutating func unlist(_ number: UInt64, _ key: Key) {
        if listed[key] == number { listed[key] = nil }
    }
}
