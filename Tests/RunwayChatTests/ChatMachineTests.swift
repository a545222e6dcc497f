import Foundation
import HTTPTypes
import Runway
import RunwayFormats
import RunwayJSON
import RunwayStreams
import Testing

@testable import RunwayChat

/// What the machine of a conversation does with pages and numbers that no correct server sends.
struct ChatMachineTests {
    private func json(_ text: String) throws -> JSONValue { try JSONDocument(Array(text.utf8)).root }

    private func message(_ number: Int64) -> ChatMessage {
        ChatMessage(conversation: "c", number: number, sender: "bob", id: UUID(), text: "\(number)", time: 0)
    }

    private func page(_ numbers: ClosedRange<Int64>?, last: Int64) -> ChatPage {
        ChatPage(messages: numbers.map { $0.map(message) } ?? [], first: 1, last: last, marks: [])
    }

    /// A machine that shows the messages up to a number.
    private func machine(upTo last: Int64) -> ChatMachine {
        var machine = ChatMachine(member: "ada")
        #expect(machine.connected(.reset(.first), at: .zero) == [.fetch(.latest)])
        #expect(machine.fetched(page(1...last, last: last), at: .zero) == [])
        return machine
    }

    @Test func messageThatTheServerLostIsSentAgain() {
        var machine = machine(upTo: 3)
        _ = machine.caughtUp(at: .zero)
        let draft = ChatDraft(id: UUID(), text: "mine", date: .distantPast)
        #expect(machine.write(draft, at: .zero) == [.send(machine.outbox.drafts[0])])
        _ = machine.sent(draft.id, number: 9, date: .distantPast, at: .zero)
        #expect(machine.outbox.drafts.map(\.state) == [.stored(9)])
        // The server begins anew with less than the screen shows.
        _ = machine.connected(.reset(.serverLost), at: .zero)
        _ = machine.fetched(page(nil, last: 0), at: .zero)
        #expect(machine.outbox.drafts.map(\.state) == [.waiting])
        _ = machine.fetched(page(nil, last: 0), at: .zero)
        #expect(machine.caughtUp(at: .zero).contains { if case .send = $0 { true } else { false } })
    }

    /// A machine that sends one message, and that message.
    private func sendingMachine() -> (machine: ChatMachine, draft: UUID) {
        var machine = machine(upTo: 3)
        _ = machine.caughtUp(at: .zero)
        let draft = ChatDraft(id: UUID(), text: "mine", date: .distantPast)
        #expect(machine.write(draft, at: .zero) == [.send(machine.outbox.drafts[0])])
        return (machine, draft.id)
    }

    @Test func messageThatMayBeSentIsNotDiscarded() {
        var (machine, draft) = sendingMachine()
        // The server may have stored it before the call timed out.
        _ = machine.sendFailed(draft, .transient, at: .zero)
        #expect(machine.outbox.drafts.map(\.state) == [.waiting])
        #expect(machine.discard(draft) == false)
        #expect(machine.outbox.drafts.map(\.id) == [draft])
        // That a later call did not send it says nothing about the first.
        #expect(machine.tick(at: .seconds(60)) == [.send(machine.outbox.drafts[0])])
        _ = machine.sendFailed(draft, .notSent, at: .seconds(60))
        #expect(machine.discard(draft) == false)
        #expect(machine.tick(at: .seconds(120)) == [.send(machine.outbox.drafts[0])])
        // Nor does what refuses the next one.
        _ = machine.sendFailed(draft, .refused("413"), at: .seconds(120))
        #expect(machine.discard(draft) == false)
        // The server may refuse it for ever, so that it can be removed.
        #expect(machine.outbox.drafts.isEmpty)
    }

    @Test func messageOfOneRefusedCallIsDiscarded() {
        var (machine, draft) = sendingMachine()
        _ = machine.sendFailed(draft, .refused("413"), at: .zero)
        #expect(machine.discard(draft) == true)
        #expect(machine.outbox.drafts.isEmpty)
    }

    @Test func messageThatWasNotSentIsDiscarded() {
        var (machine, draft) = sendingMachine()
        #expect(machine.discard(draft) == false)
        _ = machine.sendFailed(draft, .notSent, at: .zero)
        #expect(machine.discard(draft) == true)
        #expect(machine.outbox.drafts.isEmpty)
    }

    @Test func messageOfACancelledCallIsNotDiscarded() throws {
        var (machine, draft) = sendingMachine()
        machine.stop()
        #expect(machine.discard(draft) == false)
        // Nor after the next start of the app.
        let stored = try JSONEncoder().encode(machine.state(at: ""))
        var restored = ChatMachine.restored(from: try JSONDecoder().decode(ChatState.self, from: stored))
        #expect(restored.outbox.drafts.map(\.state) == [.waiting])
        #expect(restored.discard(draft) == false)
    }

    @Test(arguments: [(#"{"waiting":{}}"#, true), (#"{"sending":{}}"#, true), (#"{"failed":{"_0":"no"}}"#, true)])
    func draftOfAnEarlierVersionIsRead(_ state: String, _ mayBeSent: Bool) throws {
        let text = #"{"id":"\#(UUID().uuidString)","text":"mine","date":0,"state":\#(state)}"#
        #expect(try JSONDecoder().decode(ChatDraft.self, from: Data(text.utf8)).mayBeSent == mayBeSent)
    }

    @Test func errorSaysWhetherAMessageMayBeSent() {
        let unsent = NetworkError(.noNetwork, in: .transporting, "no", sending: .notSent)
        #expect(ChatMachine.Failure(unsent) == .notSent)
        let lost = NetworkError(.noNetwork, in: .transporting, "no", sending: .unknown)
        #expect(ChatMachine.Failure(lost) == .transient)
        for (status, failure) in [(401, ChatMachine.Failure.notSent), (429, .notSent), (503, .transient)] {
            let refused = NetworkError(.refused, in: .judging, "no", status: HTTPResponse.Status(code: status))
            #expect(ChatMachine.Failure(refused) == failure)
        }
    }

    @Test func refusedPagesAreFetchedAfterAPause() {
        var machine = ChatMachine(member: "ada")
        _ = machine.connected(.reset(.first), at: .zero)
        _ = machine.caughtUp(at: .zero)
        #expect(machine.fetchFailed(.refused("404"), at: .zero) == [])
        #expect(machine.write(ChatDraft(id: UUID(), text: "mine", date: .distantPast), at: .zero) == [])
        #expect(machine.isRefused && !machine.isLive && machine.deadline == ChatMachine.refusalPause)
        #expect(machine.tick(at: .seconds(60)) == [.fetch(.latest)])
        #expect(machine.fetched(page(nil, last: 0), at: .seconds(60)) == [.send(machine.outbox.drafts[0])])
        #expect(!machine.isRefused && machine.isLive)
    }

    @Test func newConnectionFetchesRefusedPagesAtOnce() {
        var machine = ChatMachine(member: "ada")
        _ = machine.connected(.reset(.first), at: .zero)
        _ = machine.fetchFailed(.refused("404"), at: .zero)
        machine.setExclusion(nil)
        #expect(machine.connected(.resumed, at: .zero) == [.fetch(.latest)])
    }

    @Test func excludedMemberMakesNoCalls() {
        var machine = ChatMachine(member: "ada")
        _ = machine.connected(.reset(.first), at: .zero)
        machine.setExclusion("removed")
        #expect(machine.fetchFailed(.refused("404"), at: .zero) == [])
        #expect(machine.caughtUp(at: .zero) == [])
        #expect(machine.isRefused && machine.deadline == nil)
    }

    @Test func refusedMarkStopsMarksAlone() {
        let mark = ChatMachine.Action.mark(ChatMark(member: "ada", delivered: 3, read: 0))
        var machine = machine(upTo: 3)
        #expect(machine.caughtUp(at: .zero) == [mark])
        #expect(machine.markFailed(.refused("409"), at: .zero) == [])
        #expect(!machine.isRefused && machine.isLive && machine.deadline == nil)
        #expect(machine.connected(.reset(.first), at: .seconds(40)) == [.fetch(.after(3))])
        #expect(machine.caughtUp(at: .seconds(40)) == [mark])
    }

    @Test func refusedOlderPageRefusesNothingElse() {
        var machine = ChatMachine(member: "ada")
        _ = machine.connected(.reset(.first), at: .zero)
        _ = machine.fetched(page(5...8, last: 8), at: .zero)
        _ = machine.caughtUp(at: .zero)
        #expect(machine.loadOlder(at: .zero) == [.fetch(.before(5))])
        #expect(machine.fetchFailed(.refused("404"), at: .zero) == [])
        #expect(!machine.isRefused && machine.isLive)
    }

    @Test(arguments: [(403, true), (404, true), (410, true), (400, false), (409, false), (503, false)])
    func onlyMissingAccessRefusesPages(_ status: Int, _ isRefused: Bool) {
        let expected: ChatMachine.Failure = isRefused ? .refused("no") : .transient
        for kind in [NetworkError.Kind.refused, .service] {
            let error = NetworkError(kind, in: .judging, "no", status: HTTPResponse.Status(code: status))
            #expect(ChatMachine.Failure(ofPage: error) == expected)
        }
        let page = NetworkError(.invalidResponse, in: .judging, "no", status: HTTPResponse.Status(code: status))
        #expect(ChatMachine.Failure(ofPage: page) == .transient)
    }

    @Test func outageThatAServiceReportsIsTransient() {
        let error = NetworkError(.service, in: .judging, "down", status: .serviceUnavailable)
        #expect(ChatMachine.Failure(error) == .transient)
    }

    @Test(arguments: [Int64.max, -1, 9_007_199_254_740_993])
    func numberThatHasNoNextOneIsMalformed(_ number: Int64) throws {
        let id = UUID().uuidString
        #expect(ChatMessage(try json(#"{"number":\#(number),"sender":"b","id":"\#(id)","text":"","time":0}"#)) == nil)
        #expect(ChatMark(try json(#"{"member":"b","delivered":\#(number),"read":0}"#)) == nil)
        #expect(ChatMark(try json(#"{"member":"b","delivered":0,"read":\#(number)}"#)) == nil)
        #expect(ChatPage(try json(#"{"messages":[],"first":1,"last":\#(number)}"#)) == nil)
        #expect(ChatPage(try json(#"{"messages":[],"first":\#(number),"last":1}"#)) == nil)
    }

    @Test func greatestNumberIsShown() throws {
        let greatest: Int64 = 9_007_199_254_740_992
        let text = #"{"number":\#(greatest),"sender":"b","id":"\#(UUID().uuidString)","text":"","time":0}"#
        let message = try #require(ChatMessage(try json(text)))
        let read = try #require(
            ChatPage(try json(#"{"messages":[\#(text)],"first":\#(greatest),"last":\#(greatest)}"#)))
        var machine = ChatMachine(member: "ada")
        _ = machine.connected(.reset(.first), at: .zero)
        #expect(machine.fetched(read, at: .zero) == [])
        #expect(machine.received(message, at: .zero) == [])
        #expect(machine.window.last == greatest && machine.window.messages.count == 1)
    }

    @Test func membersAreDistinguishedByTheirBytes() {
        let (composed, decomposed) = ("Zo\u{EB}", "Zoe\u{308}")
        var machine = ChatMachine(member: composed)
        _ = machine.connected(.reset(.first), at: .zero)
        let (id, draft) = (UUID(), ChatDraft(id: UUID(), text: "mine", date: .distantPast))
        let messages = [composed, decomposed].enumerated().map {
            ChatMessage(conversation: "c", number: Int64($0 + 1), sender: $1, id: id, text: "", time: 0)
        }
        let marks = [ChatMark(member: decomposed, delivered: 2, read: 2)]
        _ = machine.fetched(ChatPage(messages: messages, first: 1, last: 2, marks: marks), at: .zero)
        #expect(machine.entries.map(\.state) == [.read, .received] && machine.marks.readNumber == 0)
        #expect(machine.entries[0].id != machine.entries[1].id)
        _ = machine.write(draft, at: .zero)
        _ = machine.received(
            ChatMessage(conversation: "c", number: 3, sender: decomposed, id: draft.id, text: "other", time: 0),
            at: .zero)
        #expect(machine.outbox.drafts.count == 1, "the message of the other member does not remove the draft")
        #expect(ChatMachine.restored(from: machine.state(at: "")).marks.all.count == machine.marks.all.count)
    }

    @Test func membersOfAPageHaveABound() throws {
        let members = (0..<2000).map { #"{"member":"m\#($0)","delivered":1,"read":0}"# }.joined(separator: ",")
        let present = (0..<2000).map { #""m\#($0)""# }.joined(separator: ",")
        let text = #"{"messages":[],"first":1,"last":0,"marks":[\#(members)],"run":"1","present":[\#(present)]}"#
        var machine = ChatMachine(member: "ada")
        _ = machine.connected(.reset(.first), at: .zero)
        _ = machine.fetched(try #require(ChatPage(try json(text))), at: .zero)
        #expect(machine.marks.all.count == 1000 && machine.presence.members.count == 1000)
    }

    @Test func olderPageForgetsNoMemberWhoCame() throws {
        var machine = machine(upTo: 3)
        // The server reads the page of its second run, then bob comes and cid leaves, and then the page arrives.
        #expect(machine.connected(.reset(.first), at: .zero) == [.fetch(.after(3))])
        for (member, isPresent, run) in [("dan", true, 1), ("bob", true, 2), ("cid", false, 2)] {
            let text = #"{"member":"\#(member)","isPresent":\#(isPresent),"run":"\#(run)"}"#
            machine.received(try #require(PresenceEvent(json(text))))
        }
        let text = #"{"messages":[],"first":1,"last":3,"marks":[],"run":"2","present":["ada","cid"]}"#
        _ = machine.fetched(try #require(ChatPage(json(text))), at: .zero)
        #expect(machine.presence.members == [MemberName("ada"), MemberName("bob")])
        // A page that is fetched later knows of them.
        #expect(machine.connected(.reset(.first), at: .zero) == [.fetch(.after(3))])
        let later = text.replacing(#""cid""#, with: #""eve""#)
        _ = machine.fetched(try #require(ChatPage(json(later))), at: .zero)
        #expect(machine.presence.members == [MemberName("ada"), MemberName("eve")])
    }

    @Test func messageThatFoundNoRoomIsFetched() {
        var options = ChatOptions()
        options.maximumEarlyCount = 1
        var machine = ChatMachine(member: "ada", options: options)
        _ = machine.connected(.reset(.first), at: .zero)
        _ = machine.fetched(page(1...10, last: 10), at: .zero)
        #expect(machine.received(message(12), at: .zero) == [.fetch(.after(10))])
        #expect(machine.received(message(13), at: .zero) == [])
        // The page was made before the message 13 was stored.
        #expect(machine.fetched(page(11...12, last: 12), at: .zero) == [.fetch(.after(12))])
        #expect(machine.fetched(page(13...13, last: 13), at: .zero) == [] && machine.window.messages.count == 13)
    }

    @Test func missingMessageIsFetchedMoreAndMoreRarely() {
        var machine = machine(upTo: 10)
        #expect(machine.received(message(12), at: .zero) == [.fetch(.after(10))])
        // The server never sends the message 11.
        let count = fetchCount(&machine, within: .seconds(600)) { _ in page(nil, last: 10) }
        #expect((10...80).contains(count), "\(count)")
        #expect(machine.window.messages.count == 10)
    }

    /// A machine that shows ten messages, and has loaded ten before them.
    private func machineWithOlderMessages(upTo maximumOlderCount: Int) -> ChatMachine {
        var options = ChatOptions()
        (options.maximumMessageCount, options.maximumOlderCount) = (10, maximumOlderCount)
        var machine = ChatMachine(member: "ada", options: options)
        _ = machine.connected(.reset(.first), at: .zero)
        _ = machine.fetched(page(21...30, last: 30), at: .zero)
        #expect(machine.loadOlder(at: .zero) == [.fetch(.before(21))])
        _ = machine.fetched(page(11...20, last: 30), at: .zero)
        return machine
    }

    @Test func loadedMessagesStayUntilTheLastIsRead() {
        var machine = machineWithOlderMessages(upTo: 100)
        for number in 31...40 as ClosedRange<Int64> { _ = machine.received(message(number), at: .zero) }
        #expect(machine.window.messages.map(\.number) == Array(11...40) && machine.window.hasOlder)
        _ = machine.read(upTo: 40, at: .zero)
        _ = machine.received(message(41), at: .zero)
        #expect(machine.window.messages.map(\.number) == Array(32...41))
    }

    @Test func loadedMessagesHaveABound() {
        var machine = machineWithOlderMessages(upTo: 10)
        #expect(!machine.window.hasOlder && machine.loadOlder(at: .zero) == [])
        for number in 31...33 as ClosedRange<Int64> { _ = machine.received(message(number), at: .zero) }
        #expect(machine.window.messages.map(\.number) == Array(14...33) && !machine.window.hasOlder)
    }

    @Test func greatestBoundsCauseNoOverflow() {
        var options = ChatOptions()
        (options.maximumMessageCount, options.maximumOlderCount) = (.max, .max)
        var machine = ChatMachine(member: "ada", options: options)
        _ = machine.connected(.reset(.first), at: .zero)
        _ = machine.fetched(page(21...30, last: 30), at: .zero)
        #expect(machine.loadOlder(at: .zero) == [.fetch(.before(21))])
        _ = machine.received(message(31), at: .zero)
        #expect(machine.window.messages.count == 11 && machine.window.hasOlder)
    }

    @Test func stateWithImpossibleNumbersIsFound() {
        let sound = machine(upTo: 3).state(at: "")
        #expect(sound.isConsistent && ChatState().isConsistent)
        let damages: [(inout ChatState) -> Void] = [
            { $0.last = .max }, { $0.last = .min }, { $0.last = nil }, { $0.last = 2 },
            { $0.first = .min }, { $0.first = 2 }, { $0.serverFirst = -1 }, { $0.readNumber = .max },
            { $0.messages[1].number = 1 },
            { $0.messages[1].number = .min }, { $0.messages[2].number = .max },
            { $0.marks = [ChatMark(member: "bob", delivered: .max, read: 0)] },
        ]
        for (index, damage) in damages.enumerated() {
            var state = sound
            damage(&state)
            #expect(!state.isConsistent, "damage \(index)")
        }
    }

    @Test func incompleteLastPageIsFetchedWithBackoff() {
        var machine = machine(upTo: 10)
        #expect(machine.connected(.reset(.first), at: .zero) == [.fetch(.after(10))])
        let count = fetchCount(&machine, within: .seconds(600)) { range in
            range == .latest ? page(1...10, last: 5000) : page(11...20, last: 5000)
        }
        #expect((20...200).contains(count), "\(count)")
    }

    @Test func restartedScreenFetchesTheLastMessagesAtOnce() {
        var machine = machine(upTo: 10)
        #expect(machine.connected(.reset(.first), at: .zero) == [.fetch(.after(10))])
        #expect(machine.fetched(page(11...20, last: 5000), at: .zero) == [.fetch(.latest)])
        #expect(machine.fetched(page(4901...5000, last: 5000), at: .zero) == [])
        #expect(machine.window.messages.count == 100 && machine.deadline == nil)
        // The pause has ended: the next gap is fetched at once, and so is every page that brings something.
        #expect(machine.connected(.reset(.first), at: .zero) == [.fetch(.after(5000))])
        #expect(machine.fetched(page(5001...5100, last: 5150), at: .zero) == [.fetch(.after(5100))])
        #expect(machine.fetched(page(5101...5150, last: 5150), at: .zero) == [])
    }

    /// Responds to every fetch at once, and returns how many there were.
    private func fetchCount(
        _ machine: inout ChatMachine, within time: Duration, page: (ChatRange) -> ChatPage
    ) -> Int {
        var (count, now) = (0, Duration.zero)
        while now < time, count < 10_000 {
            while let range = machine.fetching, count < 10_000 {
                count += 1
                _ = machine.fetched(page(range), at: now)
            }
            guard let deadline = machine.deadline else { break }
            now = max(now, deadline)
            _ = machine.tick(at: now)
        }
        return count
    }
}

extension ChatMachine {
    fileprivate static func restored(from state: ChatState) -> ChatMachine {
        var machine = ChatMachine(member: "ada")
        machine.restore(state, isCurrent: true)
        return machine
    }
}
