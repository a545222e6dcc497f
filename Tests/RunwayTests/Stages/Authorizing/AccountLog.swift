import Synchronization

@testable import Runway

/// What happened in an ``AccountStorm``. Places are counted up with everything that is written.
struct AccountLog: Sendable {
    /// A sign-in or a sign-out; `end` is where it had returned, and every landing that had begun before that was written.
    struct Change: Sendable {
        /// Who signed in; `nil` is a sign-out.
        var account: String?
        var begin: Int
        var end = Int.max
    }

    /// What is known of a session beside itself.
    private struct Course: Sendable {
        /// Where it was first seen.
        var begin: Int
        /// Where it was first seen to be over.
        var over = Int.max
        /// The sign-outs that had not returned then: one of them ended it.
        var endings: [Int] = []
    }

    private(set) var place = 0
    private(set) var problems: [String] = []
    /// How many responses, landings, redirects, renewals and so on there were, by name: a storm of none shows nothing.
    private(set) var counts: [String: Int] = [:]
    /// The sign-ins and sign-outs in the order in which they began.
    private(set) var changes: [Change] = []
    /// The session of each login; `nil` until its sign-in returned, and if a sign-out at the same time may have ended it before.
    var logins: [Int: Int] = [:]
    private(set) var loginCount = 0
    /// The sessions that were seen. A session is named by its place in this list.
    private var sessions: [AccountSession] = []
    private var numbers: [AccountSession: Int] = [:]
    private var courses: [Course] = []

    mutating func next() -> Int {
        place += 1
        return place
    }

    mutating func count(_ what: String) { counts[what, default: 0] += 1 }

    mutating func note(_ problem: String) { problems.append("\(place): \(problem)") }

    mutating func nextLogin() -> Int {
        loginCount += 1
        return loginCount
    }

    /// The name of a session.
    mutating func number(of session: AccountSession) -> Int {
        if let number = numbers[session] { return number }
        sessions.append(session)
        courses.append(Course(begin: next()))
        numbers[session] = sessions.count - 1
        return sessions.count - 1
    }

    mutating func begin(signingIn account: String?) -> Int {
        changes.append(Change(account: account, begin: next()))
        return changes.count - 1
    }

    mutating func end(_ change: Int) {
        // A session that is over now was ended by a sign-out that has not returned by now, this one among them.
        let endings = changes.indices.filter { changes[$0].account == nil && changes[$0].end == .max }
        let place = next()
        for session in sessions.indices where courses[session].over == .max && sessions[session].isOver {
            courses[session].over = place
            courses[session].endings = endings
        }
        changes[change].end = place
    }
}

extension AccountLog {
    func isOver(_ session: Int) -> Bool { sessions[session].isOver }

    func account(of session: Int) -> String? { sessions[session].account }

    /// Where all sign-outs had returned that can have ended a session.
    private func end(of session: Int) -> Int {
        let course = courses[session]
        return course.over == .max ? .max : course.endings.map { changes[$0].end }.max() ?? .max
    }

    private func describe(_ session: Int) -> String { "\(account(of: session) ?? "nobody")'s session \(session)" }

    /// Notes that a call received data of another account, or of a session that had ended before the call started.
    ///
    /// - Parameter own: The session of the call; `nil` if it is not known.
    mutating func checkGiven(_ given: Int, to own: Int?, since begin: Int, _ what: String) {
        count(what)
        if let own, account(of: own) != account(of: given) {
            note("\(what): a call of \(describe(own)) got what is of \(describe(given))")
        }
        if own != given, account(of: given) != nil, end(of: given) < begin {
            note("\(what): a call since \(begin) got what is of \(describe(given)), which ended at \(end(of: given))")
        }
        if let own { checkCurrent(own, from: begin, to: next(), what) }
    }

    /// Notes that a request has what is of another account, of a session that was over before the call began, or of one that came later.
    mutating func checkSent(_ sent: Int, in own: Int, since begin: Int, _ what: String) {
        count(what)
        if sent == own { return }
        let text = "\(what): a call of \(describe(own)) sent what is of \(describe(sent))"
        guard let account = account(of: own), account == self.account(of: sent) else {
            // A login may leave cookies with nobody, until a sign-out.
            let mayBeLeft = changes.contains { $0.account == nil && $0.end > begin }
            if account(of: own) != self.account(of: sent) || !mayBeLeft { note(text) }
            return
        }
        if end(of: sent) < begin || courses[sent].begin > courses[own].over { note(text) }
    }

    /// Notes that the account of a session was not signed in at any time between two places.
    mutating func checkCurrent(_ session: Int, from begin: Int, to end: Int, _ what: String) {
        guard let account = account(of: session) else { return }
        let signIns = changes.filter { $0.account == account && $0.begin <= end }
        let isElsewhere = changes.contains { other in
            other.account != account && other.end < begin && signIns.allSatisfy { $0.end < other.begin }
        }
        if isElsewhere || self.end(of: session) < begin {
            note("\(what) between \(begin) and \(end) is of \(describe(session)), which was not signed in")
        }
    }

    /// Notes that something is left of a session that is over.
    mutating func checkLeft(_ session: Int, of account: String?, _ what: String) {
        if self.account(of: session) != account { note("\(what) of \(account ?? "nobody") is of \(describe(session))") }
        guard isOver(session) else { return }
        // What a login left with nobody stays until somebody signs out.
        let isWiped = changes.contains { $0.account == nil && $0.begin > courses[session].over }
        if account != nil || isWiped { note("\(what) is left of \(describe(session)), which is over") }
    }
}

/// One call of an ``AccountStorm``, as the tasks know it that it runs in.
final class StormCall: Sendable {
    @TaskLocal static var current: StormCall?

    /// Where it began.
    let begin: Int
    /// Guards the session in which it was made, once it is known.
    private let found = Mutex<Int?>(nil)

    init(begin: Int) { self.begin = begin }

    var session: Int? { found.withLock { $0 } }

    /// Notes a session; the first one is that of the call, and not that of a renewal within it.
    func note(_ session: Int) { found.withLock { $0 = $0 ?? session } }
}
