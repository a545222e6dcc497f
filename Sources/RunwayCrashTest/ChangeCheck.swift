import Foundation

/// Compares the effects of changes on the server with the records of the clients that made the changes.
struct ChangeCheck {
    /// The differences that the check found, one sentence each.
    private(set) var findings: [String] = []
    private var durableCount = 0
    private var queuedCount = 0
    private var effectCount = 0
    private var interruptedCount = 0
    private var uncertainCount = 0

    /// A sentence with the numbers of compared changes.
    var totals: String {
        "\(durableCount) changes acknowledged to their clients, \(queuedCount) of them stored, \(interruptedCount) whose first attempt was "
            + "killed, \(uncertainCount) refused after they may have been sent, \(effectCount) effects"
    }

    init(_ changers: [ClientFiles], in folder: URL) throws {
        if changers.isEmpty { return }
        var effects: [String: [Ledger.Effect]] = [:]
        var completed: Set<String> = []
        for line in try ClientFiles.lines(of: ServerFiles(in: folder).ledger) {
            switch Ledger.Entry(line) {
            case .begun(let key):
                if completed.contains(key) {
                    findings.append("\(key) was executed again after its response was stored.")
                }
            case .effect(let effect): effects[effect.client, default: []].append(effect)
            case .completed(let key): completed.insert(key)
            case nil: findings.append("The ledger has a line that can't be read: \(line).")
            }
        }
        for files in changers { try compare(effects.removeValue(forKey: files.name) ?? [], files) }
        if durableCount == 0 || queuedCount == 0 { findings.append("No change was made, or none was stored.") }
        for name in effects.keys { findings.append("Nobody made the changes of \(name).") }
    }

    private mutating func compare(_ effects: [Ledger.Effect], _ files: ClientFiles) throws {
        let name = files.name
        let offered = Set(try files.numbers(in: files.offered))
        let queued = Set(try files.numbers(in: files.queued))
        let durable = queued.union(try files.numbers(in: files.durable))
        let taken = Set(effects.map(\.number))
        let (sent, uncertain) = (Set(try files.numbers(in: files.sent)), Set(try files.numbers(in: files.uncertain)))
        interruptedCount += sent.subtracting(durable).count
        uncertainCount += uncertain.count
        durableCount += durable.count
        queuedCount += queued.count
        effectCount += effects.count
        let lost = sent.subtracting(taken).sorted()
        if !lost.isEmpty {
            findings.append("\(name): \(lost.count) were lost while they were sent, such as \(lost[0]).")
        }
        // A call that was refused, or whose process was killed, may arrive after later calls, but it may arrive only
        // once.
        findings += problems(
            of: name, Dictionary(grouping: effects, by: \.account).mapValues { $0.map(\.number) }, offered: offered,
            durable: durable, isOrdered: durable.subtracting(uncertain).contains)
        let unreported = queued.subtracting(try files.numbers(in: files.reported)).sorted()
        if !unreported.isEmpty {
            findings.append(
                "\(name): \(unreported.count) were stored and never reported, the first is \(unreported[0]).")
        }
        for line in try ClientFiles.lines(of: files.refused) { findings.append("\(name): \(line)") }
    }
}
