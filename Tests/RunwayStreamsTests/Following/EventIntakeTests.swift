import Testing

@testable import RunwayStreams

/// What of a connection reaches the app.
struct EventIntakeTests {
    private func item(_ type: String, _ data: String, id: String) -> EventParser.Item {
        .event(ServerSentEvent(type: type, data: data, id: id))
    }

    private func intake(after id: String = "") -> EventIntake {
        var intake = EventIntake(after: id.isEmpty ? nil : StreamCursor(stream: "news", lastEventID: id))
        #expect(intake.begin("news").isEmpty, "the server says how it continues")
        return intake
    }

    @Test func aFirstConnectionIsAReset() {
        var intake = intake()
        #expect(
            intake.read(item("runway.reset", #"{"connection":"c1"}"#, id: "e-7"))
                == [.connection("c1", refused: []), .continuity(.reset(.first), id: "e-7")])
        #expect(
            intake.read(item("price", "1", id: "e-8")) == [
                .event(.init(type: "price", data: "1", id: "e-8"), id: "e-8")
            ])
    }

    @Test func onlyTheOpeningNamesTheConnection() {
        var intake = intake()
        let opening = intake.read(item("runway.reset", #"{"connection":"c1","refused":["b"]}"#, id: "e-7"))
        #expect(opening.first == .connection("c1", refused: ["b"]))
        // A server may send these for ever.
        let again = intake.read(item("runway.resumed", #"{"connection":"c2"}"#, id: "e-7"))
        #expect(again.isEmpty)
    }

    @Test func aResumedConnectionContinues() {
        var intake = intake(after: "e-7")
        #expect(
            intake.read(item("runway.resumed", #"{"from":"e-7"}"#, id: "e-7")) == [.continuity(.resumed, id: "e-7")])
        #expect(intake.read(item("message", "x", id: "e-9")).count == 1, "other topics have the places in between")
        #expect(intake.lastEventID == "e-9")
    }

    @Test func emptyPagesMoveThePlaceOfAReplay() {
        var intake = intake(after: "e-7")
        _ = intake.read(item("runway.resumed", #"{"from":"e-7"}"#, id: "e-7"))
        #expect(intake.read(.id("e-263")) == [.position("e-263")])
        #expect(intake.lastEventID == "e-263")
        #expect(
            intake.read(item("runway.live", "{}", id: "e-300")) == [.position("e-300"), .caughtUp(id: "e-300")])
    }

    @Test func aGapNamesWhatIsGone() {
        var intake = intake(after: "e-7")
        let gap = StreamContinuity.gap(from: EventID(epoch: "e", offset: 8), to: EventID(epoch: "e", offset: 20))
        #expect(
            intake.read(item("runway.gap", #"{"from":"e-8","to":"e-20"}"#, id: "e-20")) == [
                .continuity(gap, id: "e-20")
            ])
        #expect(intake.read(item("message", "x", id: "e-20")).isEmpty, "it is before the end of the gap")
        #expect(intake.read(item("message", "x", id: "e-21")).count == 1)
    }

    @Test func eventsLostByTheServerAreAReset() {
        var intake = intake(after: "e-7")
        #expect(intake.read(item("runway.reset", "{}", id: "f-2")) == [.continuity(.reset(.serverLost), id: "f-2")])
        #expect(intake.lastEventID == "f-2")
    }

    @Test func resumptionAtALaterEventIsAGap() {
        var intake = intake(after: "e-7")
        let gap = StreamContinuity.gap(from: EventID(epoch: "e", offset: 8), to: EventID(epoch: "e", offset: 12))
        #expect(intake.read(item("runway.resumed", #"{"from":"e-12"}"#, id: "")) == [.continuity(gap, id: "e-12")])
    }

    @Test func aServerThatResumesTooEarlyRepeatsNothing() {
        var intake = intake(after: "e-7")
        #expect(intake.read(item("runway.resumed", #"{"from":"e-3"}"#, id: "")) == [.continuity(.resumed, id: "e-7")])
        for offset in 4...7 { #expect(intake.read(item("message", "x", id: "e-\(offset)")).isEmpty) }
        #expect(intake.duplicateCount == 4)
        #expect(intake.read(item("message", "x", id: "e-8")).count == 1)
    }

    @Test(arguments: [#"{"from":"f-7"}"#, "{}", "nonsense", #"{"from":7}"#])
    func aServerThatResumesElsewhereIsAReset(_ data: String) {
        var intake = intake(after: "e-7")
        let outputs = intake.read(item("runway.resumed", data, id: "f-7"))
        #expect(outputs == [.continuity(.reset(.invalid), id: "f-7")])
    }

    @Test(arguments: ["e-9-", "f-9", ""]) func anEventOfAnotherNumberingIsAReset(_ id: String) {
        var intake = intake(after: "e-7")
        _ = intake.read(item("runway.resumed", #"{"from":"e-7"}"#, id: ""))
        let outputs = intake.read(item("message", "x", id: id))
        #expect(outputs.count == 2)
        guard case .continuity(.reset(.invalid), _)? = outputs.first else {
            Issue.record("\(outputs)")
            return
        }
    }

    @Test func anEventBeforeTheOpeningIsAReset() {
        var intake = intake(after: "e-7")
        let outputs = intake.read(item("message", "x", id: "e-8"))
        #expect(outputs.first == .continuity(.reset(.invalid), id: "e-7"))
        #expect(outputs.count == 2)
    }

    @Test func aHeartbeatMovesThePlace() {
        var intake = intake(after: "e-7")
        _ = intake.read(item("runway.resumed", #"{"from":"e-7"}"#, id: ""))
        #expect(intake.read(.id("e-30")) == [.position("e-30")])
        #expect(intake.read(.id("e-29")).isEmpty)
        #expect(intake.read(.id("f-31")).isEmpty)
        #expect(intake.lastEventID == "e-30")
    }

    @Test func aConnectionCatchesUpOnceAfterItsOpening() {
        var intake = intake(after: "e-7")
        #expect(intake.read(item("runway.live", "{}", id: "e-9")).isEmpty, "the opening comes first")
        _ = intake.read(item("runway.resumed", #"{"from":"e-7"}"#, id: ""))
        #expect(intake.read(item("runway.live", "{}", id: "e-9")) == [.position("e-9"), .caughtUp(id: "e-9")])
        #expect(intake.read(item("runway.live", "{}", id: "e-9")).isEmpty)
        _ = intake.begin("news")
        _ = intake.read(item("runway.resumed", #"{"from":"e-9"}"#, id: ""))
        #expect(intake.read(item("runway.live", "{}", id: "e-9")) == [.caughtUp(id: "e-9")])
    }

    @Test func anotherServerIsResumedByItsIDs() {
        var intake = EventIntake(after: nil)
        #expect(intake.begin(nil) == [.continuity(.reset(.first), id: "")])
        #expect(intake.read(item("message", "x", id: "any thing")).count == 1)
        #expect(intake.begin(nil) == [.continuity(.resumed, id: "any thing")])
    }

    @Test func everyReconnectionWithoutIDsIsAReset() {
        var intake = EventIntake(after: nil)
        _ = intake.begin(nil)
        _ = intake.read(item("message", "x", id: ""))
        #expect(intake.begin(nil) == [.continuity(.reset(.noIDs), id: "")])
    }

    @Test func idThatFitsNoHeaderFieldIsIgnored() {
        var intake = EventIntake(after: nil)
        _ = intake.begin(nil)
        _ = intake.read(item("message", "x", id: "a\u{1}b"))
        #expect(intake.lastEventID.isEmpty)
        _ = intake.read(item("message", "x", id: String(repeating: "a", count: 2000)))
        #expect(intake.lastEventID.isEmpty)
    }

    @Test func aCursorOfAnotherStreamContinuesNothing() {
        var intake = EventIntake(after: StreamCursor(stream: "weather", lastEventID: "e-7"))
        _ = intake.begin("news")
        let outputs = intake.read(item("runway.resumed", #"{"from":"e-7"}"#, id: "e-7"))
        #expect(outputs == [.continuity(.reset(.invalid), id: "e-7")])
    }
}
