import RunwayJSON
import Testing

@testable import RunwayBridge

struct PageDocumentTests {
    @Test func aCallIsStartedAndFinishedOnce() throws {
        var page = PageFixture()
        let start = try #require(page.call("echo", input: #"{"a":"b"}"#).started.first)
        #expect(start.input.root["a"].string == "b")
        page.now = .milliseconds(5)
        let end = page.document.finish(start.id, .success(.json(Array("{}".utf8))), at: page.now)
        #expect(end.replies.map(\.kind) == [.done])
        let record = try #require(end.records.first)
        #expect(record.input == #"{"a":"b"}"# && record.duration == .milliseconds(5) && record.outputByteCount == 2)
        #expect(page.document.finish(start.id, .success(.json([])), at: page.now).isEmpty)
    }

    @Test func secretsAreNoPartOfRecords() throws {
        var page = PageFixture()
        let id = try #require(page.call("echo", input: #"{"password":"hunter2"}"#).started.first?.id)
        let record = page.document.finish(id, .success(.json([])), at: .zero).records.first
        #expect(record?.input.contains("password") == true && record?.input.contains("hunter2") == false)
        let refused = page.call("other", input: #"{"password":"hunter2"}"#).records.first
        #expect(refused?.input.contains("hunter2") == false)
    }

    @Test func framesAndOpaqueOriginsAreRefused() {
        var frame = PageFixture(isMainFrame: false)
        #expect(frame.call("echo").refusal == "foreignFrame")
        for origin in ["://", "null", "", "file://", "chrome://newtab"] {
            var page = PageFixture(origin: origin)
            #expect(page.call("echo").refusal == "opaqueOrigin")
        }
    }

    @Test func idsAreUsedOnce() throws {
        var page = PageFixture()
        #expect(page.call("echo", id: 5).started.count == 1)
        for id in [5, 4, 0, -1] { #expect(page.call("echo", id: id).refusal == "malformed") }
        #expect(page.call("echo", id: 6).started.count == 1)
    }

    @Test func aGestureIsUsedOnce() {
        var page = PageFixture()
        #expect(page.call("change").refusal == "gestureNeeded")
        #expect(page.call("change", gesture: 1, age: 1001).refusal == "gestureNeeded")
        #expect(page.call("change", gesture: 1, age: 1000).started.count == 1)
        #expect(page.call("change", gesture: 1).refusal == "gestureNeeded")
        #expect(page.call("echo", gesture: 2).started.count == 1)
        #expect(page.call("change", gesture: 2).started.count == 1)
    }

    @Test func callsInFlightAreBounded() throws {
        var page = PageFixture(limits: BridgeLimits(maximumCallsInFlight: 2))
        let first = try #require(page.call("echo").started.first?.id)
        #expect(page.call("echo").started.count == 1)
        #expect(page.call("echo").refusal == "busy")
        _ = page.document.finish(first, .success(.json([])), at: .zero)
        #expect(page.call("echo").started.count == 1)
    }

    @Test func theRateIsBounded() {
        var page = PageFixture(limits: BridgeLimits(maximumCallsInFlight: 1000, callsPerSecond: 10))
        for _ in 0..<10 { #expect(page.call("echo").started.count == 1) }
        #expect(page.call("echo").refusal == "tooFast")
        page.now = .milliseconds(200)
        #expect((0..<3).map { _ in page.call("echo").refusal } == [nil, nil, "tooFast"])
        page.now = .seconds(600)
        #expect((0..<11).filter { _ in page.call("echo").refusal == nil }.count == 10)
    }

    @Test func sizeAndDepthAreBounded() {
        var page = PageFixture(limits: BridgeLimits(maximumInputByteCount: 100, maximumDepth: 10))
        #expect(page.call("echo", input: #"{"a":"\#(String(repeating: "x", count: 92))"}"#).started.count == 1)
        #expect(page.call("echo", input: #"{"a":"\#(String(repeating: "x", count: 93))"}"#).refusal == "tooLarge")
        let nested = { (depth: Int) in String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
        #expect(page.call("echo", input: nested(10)).started.count == 1)
        #expect(page.call("echo", input: nested(11)).refusal == "tooDeep")
        #expect(page.call("echo", input: "{").refusal == "malformed")
    }

    @Test func leavingAGenerationEndsItsCalls() throws {
        var page = PageFixture()
        let ids = (0..<3).compactMap { _ in page.call("echo").started.first?.id }
        let hidden = page.send("hidden")
        #expect(hidden.cancelled == ids && hidden.replies.isEmpty)
        #expect(hidden.records.map(\.error?.kind) == [.ended, .ended, .ended])
        #expect(page.document.finish(ids[0], .success(.json([])), at: .zero).isEmpty)
        #expect(page.call("echo").refusal == "ended")
        page.generation = 2
        _ = page.send("shown")
        #expect(page.call("echo").started.count == 1)
        page.generation = 1
        #expect(page.call("echo").refusal == "ended")
    }

    @Test func messagesOfAnotherDocumentAreRefused() {
        var page = PageFixture()
        page.name = "e-f-g-h"
        let late = page.call("echo")
        #expect(late.started.isEmpty && late.replies.isEmpty && late.records.map(\.error?.kind) == [.ended])
    }

    @Test func lateMessagesBeginNoGeneration() throws {
        var page = PageFixture()
        let id = try #require(page.call("echo").started.first?.id)
        page.name = "e-f-g-h"
        for type in ["opened", "shown"] {
            page.generation = 2
            let late = page.send(type)
            #expect(late.cancelled.isEmpty && late.records.map(\.error?.kind) == [.ended])
        }
        // The document's own messages, again.
        (page.name, page.generation) = ("a-b-c-d", 1)
        for type in ["opened", "shown"] { #expect(page.send(type).isEmpty) }
        let end = page.document.finish(id, .success(.json(Array("1".utf8))), at: .zero)
        #expect(end.replies.map(\.generation) == [1] && end.records.map(\.error) == [nil])
    }

    @Test func generationsThatEndedStayEnded() {
        var page = PageFixture()
        _ = page.send("hidden")
        _ = page.send("shown")
        #expect(page.call("echo").refusal == "ended")
    }

    @Test func framesOfOneContextReceiveTheirRefusals() {
        var frames = PageFixture(isMainFrame: false)
        for name in ["e-f-g-h", "i-j-k-l"] {
            frames.name = name
            let replies = frames.call("echo").replies
            #expect(replies.map(\.document) == [name] && replies.map(\.errorKind) == ["foreignFrame"])
        }
    }

    @Test(arguments: [
        "", "\n", "{}", "[]\n", "null\n{}", "{\"document\":\"a\"}",
        #"{"document":"a-b-c-d","generation":1,"type":"x"}"#,
        #"{"document":"a-b-c-d","generation":1,"type":"call","name":"echo"}"#,
        #"{"document":"a-b-c-d","generation":1,"type":"call","id":1}"#,
        #"{"document":"a-b-c-d","generation":1,"type":"call","id":1,"name":"echo"}"#,
        #"{"document":"a-b-c-d","generation":1,"type":"refused","kind":"notGranted","count":1}"#,
        #"{"document":"a-b-c-d","generation":0,"type":"opened"}"#,
    ])
    func messagesThatTheRelayNeverSendsAreRefused(_ text: String) {
        var page = PageFixture()
        let actions = page.document.receive(text, at: .zero)
        #expect(actions.started.isEmpty && actions.records.map(\.error?.kind) == [.malformed])
    }

    @Test func theFirstRefusalsAreWholeThenTotals() {
        var page = PageFixture()
        for index in 0..<25 { #expect(page.call("other").records.count == (index < 10 ? 1 : 0)) }
        #expect(page.send("refused", #","kind":"tooLarge","name":"echo","count":1"#).records.count == 1)
        #expect(page.send("refused", #","kind":"tooLarge","name":"","count":400"#).records.isEmpty)
        #expect(page.document.nextWake == .seconds(1))
        #expect(page.document.wake(at: .milliseconds(999)).isEmpty)
        let totals = page.document.wake(at: .seconds(1)).records
        #expect(totals.map(\.count) == [15, 400] && totals.map(\.error?.kind) == [.notGranted, .tooLarge])
        #expect(page.document.nextWake == nil && page.document.wake(at: .seconds(2)).isEmpty)
    }

    @Test func partsWaitForTheirAcknowledgement() throws {
        var page = PageFixture(limits: BridgeLimits(partsAhead: 2))
        let id = try #require(page.call("echo").started.first?.id)
        #expect((0..<3).map { _ in page.document.mayPart(id) } == [true, true, false])
        #expect(page.send("acknowledge", #","id":\#(id)"#).resumed == [id])
        #expect(page.send("acknowledge", #","id":\#(id)"#).resumed.isEmpty)
        #expect(page.document.mayPart(id) == true)
        _ = page.document.mayPart(id)
        #expect(page.document.mayPart(id) == false)
        let end = page.send("abort", #","id":\#(id)"#)
        #expect(end.cancelled == [id] && end.resumed == [id] && end.replies.map(\.errorKind) == ["cancelled"])
        #expect(page.document.mayPart(id) == nil)
    }

    @Test func aCallEndsAtItsDeadline() throws {
        let slow = Command("slow", deadline: .seconds(5)) { (_: NoValue, _) in NoValue() }
        let slower = Command("slower") { (_: NoValue, _) in NoValue() }
        var page = PageFixture(commands: [slow, slower])
        #expect(page.document.nextWake == nil)
        let ids = ["slower", "slow"].compactMap { page.call($0).started.first?.id }
        #expect(page.document.nextWake == .seconds(5))
        let end = page.document.wake(at: .seconds(5))
        #expect(end.cancelled == [ids[1]] && end.replies.map(\.errorKind) == ["deadlineExceeded"])
        #expect(page.document.nextWake == .seconds(30))
        #expect(page.document.finish(ids[1], .success(.json([])), at: .seconds(6)).isEmpty)
    }

    @Test func idempotencyKeysNeverRepeat() {
        var page = PageFixture()
        var other = PageFixture(name: "e-f-g-h")
        var keys: [String] = []
        for _ in 0..<3 { keys += page.call("echo").started.map(\.idempotencyKey) }
        keys += other.call("echo").started.map(\.idempotencyKey)
        page.generation = 2
        _ = page.send("shown")
        keys += page.call("echo").started.map(\.idempotencyKey)
        #expect(keys.count == 5 && Set(keys).count == 5)
    }
}
