import RunwayJSON
import RunwaySyncCore
import RunwaySyncSimulator
import Testing

struct WireTests {
    @Test(arguments: 0..<300 as Range<UInt64>)
    func messagesReadAsTheyWereWritten(seed: UInt64) throws {
        var samples = WireSamples(seed: seed)
        let request = samples.request()
        #expect(try SyncRequest(request.wire) == request)
        let response = samples.response(to: request)
        #expect(try SyncResponse(response.wire, to: request) == response)
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func storedValuesReadAsTheyWereWritten(seed: UInt64) throws {
        var samples = WireSamples(seed: seed)
        func check<Value: WireCodable & Equatable>(_ value: Value) throws {
            #expect(try Value(encoded: value.encoded()) == value)
        }
        try check(samples.outgoing())
        try check(samples.state())
        try check(samples.record())
        try check(samples.history())
        try check(samples.row())
        try check(
            WaitingOperation(
                operation: samples.operation(),
                sender: Sender(device: samples.id(), subject: samples.flag() ? "\u{0}é" : nil), time: samples.time(),
                basis: samples.basis()))
    }

    /// Rule 14.
    @Test func rowsThatMatchContainTheNeedle() {
        var (count, samples) = (0, WireSamples(seed: 7))
        for _ in 0..<2_000 {
            let cells = samples.cells()
            guard let (column, cell) = cells.first(where: { _ in true }) else { continue }
            let constant = samples.flag() ? cell.value : samples.value()
            let conditions: [BatchUpdate.Condition] = [
                .init(column, samples.comparison(), constant), .init(column, .equal, cell.value),
            ]
            let batch = BatchUpdate(
                table: "t", where: samples.flag() ? conditions : Array(conditions.prefix(1)), set: [:])
            let row = Row(life: 1, number: 1, columns: cells)
            guard batch.matches(row), let needle = batch.needle else { continue }
            count += 1
            #expect(row.encoded().contains(needle), "\(batch)")
        }
        #expect(count > 200)
        let other = BatchUpdate(table: "t", where: [.init("b", .less, .integer(1))], set: [:])
        #expect(other.needle == Array(#""b":"#.utf8))
        #expect(BatchUpdate(table: "t", where: [], set: [:]).needle == nil)
    }

    /// Rule 2.
    @Test(arguments: [
        (SyncValue.null, "null"), (.integer(1 << 53), "9007199254740992"),
        (.integer(1 << 53 + 1), #"{"integer":"9007199254740993"}"#),
        (.integer(.min), #"{"integer":"-9223372036854775808"}"#), (.real(1), #"{"real":1}"#), (.real(0.1), "0.1"),
        (.real(-.infinity), #"{"real":"-inf"}"#), (.bytes([0, 255]), #"{"bytes":"AP8="}"#),
        (.text("\u{0}"), #""\u0000""#),
    ])
    func valuesHaveOneForm(value: SyncValue, text: String) throws {
        #expect(String(decoding: value.encoded(), as: UTF8.self) == text)
        #expect(try SyncValue(encoded: Array(text.utf8)) == value)
    }

    @Test(arguments: [
        "9007199254740993", "1e400", #"{"integer":"1"#, #"{"integer":"01"}"#, #"{"integer":1}"#, #"{"bytes":"AP8"}"#,
        #"{"bytes":"AP9="}"#, #"{"bytes":"A==="}"#, #"{"real":"nan"}"#, #"{"real":1,"bytes":""}"#, "[]", "true", "{}",
        "",
    ])
    func malformedValuesAreRefused(text: String) {
        #expect(throws: WireError.self) { try SyncValue(encoded: Array(text.utf8)) }
    }

    @Test(arguments: [
        "01924560-6C24-7c09-94ae-159add3efb0a", "019245606c247c0994ae159add3efb0a",
        "01924560-6c24-7c09-94ae-159add3efb0",
    ])
    func idsAreLowercaseWithHyphens(text: String) {
        #expect(throws: WireError.self) { try Identifier(encoded: Array("\"\(text)\"".utf8)) }
    }

    @Test func textsThatLookEqualDiffer() throws {
        let composed = SyncValue.text("\u{E9}")
        #expect(composed != .text("e\u{301}"))
        #expect(try SyncValue(encoded: composed.encoded()) == composed)
    }

    @Test(arguments: [
        ("pull", [("device", "x")]), ("pull", []), ("push", []), ("snapshot", []), ("drop", []),
    ])
    func malformedRequestsAreRefused(name: String, query: [(String, String)]) {
        for method in [WireRequest.Method.get, .post] {
            let wire = WireRequest(
                method: method, name: name, query: query.map { .init($0, $1) }, body: Array("{}".utf8))
            #expect(throws: WireError.self) { try SyncRequest(wire) }
        }
    }

    @Test(arguments: ["device", "epoch", "number", "tag", "offset"])
    func parametersComeOnce(name: String) throws {
        var samples = WireSamples(seed: 3)
        var wire = SyncRequest.pull(PullRequest(device: samples.id(), cursor: samples.cursor(), offset: 7)).wire
        #expect(throws: Never.self) { try SyncRequest(wire) }
        let index = try #require(wire.query.firstIndex { $0.name == name })
        wire.query.append(wire.query[index])
        #expect(throws: WireError.self) { try SyncRequest(wire) }
        for value in ["", "-1", "+1", "01", "99999999999999999", " 1"] {
            wire.query = [.init(name, value)] + wire.query.filter { $0.name != name }
            #expect(throws: WireError.self) { try SyncRequest(wire) }
        }
    }

    @Test func pagesOfAProxyAreNoResponses() {
        let request = SyncRequest.pull(PullRequest(device: Identifier(high: 1, low: 1), cursor: .none, offset: 0))
        for status in [200, 204, 302, 403, 404, 410, 502, 503] {
            for body in ["", "<html>", #"{"error":"sorry"}"#, "{}"] {
                #expect(throws: WireError.self) {
                    try SyncResponse(WireResponse(status: status, body: Array(body.utf8)), to: request)
                }
            }
        }
    }
}

/// Bounds of what is read.
struct WireBoundsTests {
    private let id = "\"00000000-0000-0001-0000-000000000001\""

    private func transaction(operations: Int, _ operation: String) -> [UInt8] {
        let list = Array(repeating: operation, count: operations).joined(separator: ",")
        return Array(
            #"{"number":1,"time":"0000000000000000","basis":{"epoch":\#(id),"number":0},"operations":[\#(list)]}"#.utf8)
    }

    @Test func transactionsHaveAtMost5000Operations() throws {
        let void = #"{"id":\#(id),"void":true}"#
        #expect(try Transaction(encoded: transaction(operations: 5_000, void)).operations.count == 5_000)
        for count in [0, 5_001, 1_000_000] {
            #expect(throws: WireError.self) { try Transaction(encoded: transaction(operations: count, void)) }
        }
    }

    @Test(arguments: [(0, false), (1, true), (255, true), (256, false)])
    func namesHaveAtMost255Bytes(count: Int, isValid: Bool) {
        let name = String(repeating: "n", count: count)
        let key = #"{"id":\#(id),"delete":["\#(name)",\#(id)],"life":2}"#
        let column = #"{"id":\#(id),"insert":["t",\#(id)],"life":1,"values":{"\#(name)":1}}"#
        for text in [key, column] {
            #expect(((try? Operation(encoded: Array(text.utf8))) != nil) == isValid)
        }
    }

    @Test func rowsHaveAtMost2000ColumnsEachOnce() {
        for (count, isValid) in [(2_000, true), (2_001, false)] {
            let pairs = (0..<count).map { "\"c\($0)\":1" }.joined(separator: ",")
            #expect(((try? Columns<SyncValue>(encoded: Array("{\(pairs)}".utf8))) != nil) == isValid)
        }
        #expect(throws: WireError.self) { try Columns<SyncValue>(encoded: Array(#"{"a":1,"a":2}"#.utf8)) }
    }

    @Test func deepAndLargeBodiesAreRefused() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: WireError.self) { try Packet(encoded: Array(deep.utf8)) }
        #expect(throws: WireError.self) { try Packet(encoded: Array(repeating: 0x20, count: WireBounds.bodyBytes + 1)) }
    }

    @Test func largestTransactionsFit() throws {
        let text = SyncValue.text(String(repeating: "\u{1}", count: Transaction.maximumBytes - 400))
        let transaction = Transaction(
            number: 1, previous: nil, time: .zero, basis: Basis(epoch: Identifier(high: 1, low: 1), number: 0),
            operations: [
                Operation(
                    id: Identifier(high: 1, low: 2),
                    action: .insert(RowKey("t", Identifier(high: 1, low: 3)), life: 1, ["a": text]))
            ])
        let packet = Packet(device: Identifier(high: 1, low: 4), transactions: [transaction])
        #expect(packet.isValid)
        #expect(try Packet(encoded: packet.encoded()) == packet)
    }
}
