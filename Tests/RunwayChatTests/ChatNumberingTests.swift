import Foundation
import RunwayFormats
import RunwayStreams
import Testing

@testable import RunwayChat

/// What the machine of a conversation does when the server numbers its messages anew.
struct ChatNumberingTests {
    private func message(_ number: Int64) -> ChatMessage {
        ChatMessage(conversation: "c", number: number, sender: "bob", id: UUID(), text: "\(number)", time: 0)
    }

    private func page(_ numbers: ClosedRange<Int64>?, last: Int64) -> ChatPage {
        ChatPage(messages: numbers.map { $0.map(message) } ?? [], first: 1, last: last, marks: [])
    }

    /// A machine that shows the messages up to a number of an epoch, of which the member has read all.
    private func machine(upTo last: Int64, of epoch: String?) -> ChatMachine {
        var machine = ChatMachine(member: "ada")
        #expect(machine.connected(.reset(.first), at: .zero) == [.fetch(.latest)])
        var page = page(1...last, last: last)
        page.epoch = epoch
        _ = machine.fetched(page, at: .zero)
        _ = machine.read(upTo: last, at: .zero)
        return machine
    }

    @Test func messageOfAnotherNumberingBeginsTheScreenAnew() {
        var machine = machine(upTo: 4, of: "a")
        // Its number is that of a message that is shown.
        let message = message(3)
        #expect(machine.received(message, in: "b", at: .zero) == [.fetch(.latest)])
        #expect(machine.marks.readNumber == 0, "the member has read none of the new messages")
        var page = ChatPage(messages: [self.message(1), self.message(2), message], first: 1, last: 3, marks: [])
        page.epoch = "b"
        #expect(machine.fetched(page, at: .zero) == [])
        #expect(machine.window.messages == page.messages.map { ShownMessage($0) })
    }

    @Test(arguments: [2, 4, 9] as [Int64])
    func pageOfAnotherNumberingBeginsTheScreenAnew(last: Int64) {
        var machine = machine(upTo: 4, of: "a")
        #expect(machine.connected(.reset(.serverLost), at: .zero) == [.fetch(.after(4))])
        var missed = page(last > 4 ? 5...last : nil, last: last)
        missed.epoch = "b"
        #expect(machine.fetched(missed, at: .zero) == [.fetch(.latest)])
        var page = page(1...last, last: last)
        page.epoch = "b"
        #expect(machine.fetched(page, at: .zero) == [])
        #expect(machine.window.messages == page.messages.map { ShownMessage($0) })
    }

    @Test func firstNameOfANumberingChangesNothing() throws {
        var machine = machine(upTo: 4, of: nil)
        #expect(machine.received(message(5), in: "a", at: .zero) == [])
        #expect(machine.window.messages.count == 5)
        // It is stored with the messages.
        let stored = try JSONEncoder().encode(machine.state(at: ""))
        var restored = ChatMachine(member: "ada")
        restored.restore(try JSONDecoder().decode(ChatState.self, from: stored), isCurrent: true)
        _ = restored.received(message(6), in: "b", at: .zero)
        #expect(restored.window.messages.isEmpty)
    }
}
