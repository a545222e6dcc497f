/// Who waits for which work: the rules of ``SharedWork`` without tasks and locks.
///
/// Work is listed under its key from its beginning until it ends, or until the last leaves it where that ends it; while it is
/// listed, it is joined by those who ask for its key.
struct SharedWorkTable<Key: Hashable, Member> {
    /// The place of one who waits.
    struct Seat: Hashable, Sendable {
        /// The number of the work, counted from 1.
        let work: UInt64
        /// The number of the place, counted from 0: the one who began the work sits there.
        let number: Int
    }

    /// What becomes of one who asks.
    enum Entry {
        /// The work has to be begun.
        case begins(Seat)
        /// The work is under way, begun by `beginner`.
        case joins(Seat, beginner: Member)
        /// As many wait as may.
        case refused
    }

    /// What a departure means for the work.
    enum Departure {
        /// Who left waits no more: the work has ended, or was left before.
        case wasOver
        /// The work goes on.
        case left(Member)
        /// Nobody waits any more, and the work is to be cancelled.
        case wasLast(Member)
    }

    private struct Work {
        let key: Key
        let beginner: Member
        var members: [(number: Int, member: Member)]
        var seatCount = 1
    }

    let rules: SharedWorkRules

    private var works: [UInt64: Work] = [:]
    private var listed: [Key: UInt64] = [:]
    private var count: UInt64 = 0

    /// Makes an empty table.
    init(_ rules: SharedWorkRules) { self.rules = rules }

    /// How many works have not ended.
    var workCount: Int { works.count }
    /// How many wait for all of them.
    var memberCount: Int { works.values.reduce(0) { $0 + $1.members.count } }
    /// How many works can be joined.
    var listedCount: Int { listed.count }

    /// Takes in one who asks for the work of a key.
    ///
    /// - Parameter isJoinable: Whether others may share the work with this one.
    mutating func enter(_ member: Member, for key: Key, isJoinable: Bool) -> Entry {
        if isJoinable, let number = listed[key], let work = works[number] {
            if work.members.count < max(1, rules.maximumMembers) {
                works[number]?.members.append((work.seatCount, member))
                works[number]?.seatCount += 1
                return .joins(Seat(work: number, number: work.seatCount), beginner: work.beginner)
            }
            if rules.crowding == .isRefused { return .refused }
        }
        count += 1
        works[count] = Work(key: key, beginner: member, members: [(0, member)])
        if isJoinable, listed.count < rules.maximumListed || listed[key] != nil { listed[key] = count }
        return .begins(Seat(work: count, number: 0))
    }

    /// Lets one go who waits no longer.
    mutating func leave(_ seat: Seat) -> Departure {
        guard let work = works[seat.work], let place = work.members.firstIndex(where: { $0.number == seat.number })
        else { return .wasOver }
        works[seat.work]?.members.remove(at: place)
        let member = work.members[place].member
        if work.members.count > 1 || rules.abandonment == .isCompleted { return .left(member) }
        unlist(seat.work, work.key)
        works[seat.work] = nil
        return .wasLast(member)
    }

    /// Ends a work; returns its waiters in the order in which they came, and its leader. `nil` if it has ended.
    mutating func end(_ number: UInt64) -> (beginner: Member, members: [Member])? {
        guard let work = works.removeValue(forKey: number) else { return nil }
        unlist(number, work.key)
        return (work.beginner, work.members.map(\.member))
    }

    /// The work that is joined by whoever asks for a key.
    func work(for key: Key) -> UInt64? { listed[key] }

    /// Those who wait for a work, in the order in which they came.
    func members(of number: UInt64) -> [Member] { works[number]?.members.map(\.member) ?? [] }

    /// Lets nobody join the works of some keys any more. They go on for those who wait.
    mutating func close(where isClosed: (Key) -> Bool) {
        listed = listed.filter { !isClosed($0.key) }
    }

    private mutating func unlist(_ number: UInt64, _ key: Key) {
        if listed[key] == number { listed[key] = nil }
    }
}
