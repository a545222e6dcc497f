import Runway
import RunwayJSON
import Testing

@testable import RunwayBridge

/// A document that sends what the relay of `runway.js` would send.
struct PageFixture {
    static let home = "https://m.example.com"

    var document: PageDocument
    var now = Duration.zero
    var name: String
    var generation = 1
    private var lastID = 0

    init(
        name: String = "a-b-c-d", origin: String = home, isMainFrame: Bool = true,
        limits: BridgeLimits = BridgeLimits(), commands: [Command]? = nil
    ) {
        self.name = name
        let echo = Command("echo") { (input: [String: String], _) in input }
        let change = Command("change", isUnsafe: true) { (_: NoValue, _) in NoValue() }
        let commands = commands ?? [echo, change]
        let grants = RunwayBridge.Origin(PageFixture.home).map {
            [$0: Dictionary(commands.map { ($0.name, $0) }) { first, _ in first }]
        }
        document = PageDocument(
            number: 1, origin: origin, isMainFrame: isMainFrame, grants: grants ?? [:], limits: limits,
            names: .default)
        _ = send("opened")
    }

    mutating func send(_ type: String, _ members: String = "", input: String? = nil) -> [PageDocument.Action] {
        let header = #"{"document":"\#(name)","generation":\#(generation),"type":"\#(type)"\#(members)}"#
        return document.receive(header + "\n" + (input ?? ""), at: now)
    }

    /// Makes a call with the next id, or with an id that is passed.
    mutating func call(
        _ name: String, input: String = "{}", id: Int? = nil, gesture: Int? = nil, age: Int = 0
    ) -> [PageDocument.Action] {
        if id == nil { lastID += 1 }
        let gesture = gesture.map { #","gesture":\#($0),"age":\#(age)"# } ?? ""
        return send("call", #","id":\#(id ?? lastID),"name":"\#(name)"\#(gesture)"#, input: input)
    }
}

extension [PageDocument.Action] {
    var started: [PageDocument.Start] { compactMap { if case .start(let start) = $0 { start } else { nil } } }
    var replies: [PageReply] { compactMap { if case .reply(let reply) = $0 { reply } else { nil } } }
    var records: [BridgeRecord] { compactMap { if case .record(let makeRecord) = $0 { makeRecord() } else { nil } } }
    var cancelled: [Int] { compactMap { if case .cancel(let id) = $0 { id } else { nil } } }
    var resumed: [Int] { compactMap { if case .resume(let id) = $0 { id } else { nil } } }

    /// The kind of the refusal, which the page and the record have in common.
    var refusal: String? {
        guard let record = records.first, record.isRefusal, started.isEmpty else { return nil }
        return replies.first?.errorKind == record.error?.kind.description ? record.error?.kind.description : nil
    }
}
