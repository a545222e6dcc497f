import Foundation
import RunwayFormats

@testable import RunwayChat
@testable import RunwayStreams

// The calls, the offline queue, and what is stored.
extension ModelChatClient {
    /// Performs actions, and stores what has changed.
    func perform(_ actions: [ChatMachine.Action]) {
        for action in actions { perform(action) }
        isDirty = true
        checkScreen()
        writeSoon()
        arm()
    }

    private func perform(_ action: ChatMachine.Action) {
        switch action {
        case .fetch(let range):
            if world.mistake == .holeIgnored, case .after(let number) = range {
                let page = ChatPage(messages: [], first: 1, last: number, marks: [])
                return world.after(10) { [self, startCount] in
                    if isAlive, startCount == self.startCount { perform(machine.fetched(page, at: now)) }
                }
            }
            call { [self] in
                world.server.page(range, upTo: options.pageCount)
            } take: { [self] page in
                if let page { return perform(machine.fetched(page, at: now)) }
                // A replica of the server does not know the member yet.
                let isRefused = !world.isCalm && world.chance(0.1)
                perform(machine.fetchFailed(isRefused ? .refused("404") : .transient, at: now))
            }
        case .send(let draft):
            checkReplay()
            // What the offline queue has is not overtaken.
            if !queue.isEmpty { return enqueue(draft) }
            call { [self] in
                world.server.store(sender: member, draft)
            } take: { [self] stored in
                if let stored {
                    noteStored(draft)
                    perform(machine.sent(draft.id, number: stored.number, date: stored.date, at: now))
                } else if world.chance(0.4) {
                    enqueue(draft)
                } else {
                    perform(machine.sendFailed(draft.id, .transient, at: now))
                }
            }
        case .mark(let mark):
            checkReplay()
            call { [self] in
                world.server.mark(mark)
            } take: { [self] moved in
                perform(moved.map { machine.marked($0, at: now) } ?? machine.markFailed(.transient, at: now))
            }
        }
    }

    /// Makes a call: the request may be lost or come twice, and the response may be lost.
    private func call<Value>(_ respond: @escaping () -> Value?, take: @escaping (Value?) -> Void) {
        let takeAlive = { [self, startCount] (value: Value?) in
            if isAlive, startCount == self.startCount { take(value) }
        }
        let isFailing = !world.isCalm
        guard isOnline, !(isFailing && world.chance(0.05)) else {
            return world.after(world.int(500...3000)) { takeAlive(nil) }
        }
        let isLost = isFailing && world.chance(0.1)
        if isFailing, world.chance(0.1) { world.after(world.int(1...5000)) { _ = respond() } }
        world.after(world.int(latency)) { [self] in
            let value = respond()
            world.after(isLost ? world.int(500...3000) : world.int(latency)) { takeAlive(isLost ? nil : value) }
        }
    }

    private func enqueue(_ draft: ChatDraft) {
        // The queue is on disk before the call ends.
        queue.append(draft)
        written[Int(draft.text) ?? -1] = true
        world.after(1) { [self, startCount] in
            if isAlive, startCount == self.startCount { perform(machine.sendFailed(draft.id, .queued, at: now)) }
        }
        drainSoon()
    }

    /// Sends the first call of the queue after a while, whether or not the stream has caught up, as a queue does after
    /// ``ChatOptions/maximumQueueDelay``. So there is no ``checkReplay()`` here. ``checkScreen()`` checks what holds
    /// for a message that is stored before the replay: it is shown once, in the place that its number has.
    func drainSoon() {
        guard isAlive, !queue.isEmpty, !isDraining else { return }
        isDraining = true
        world.after(world.int(200...3000)) { [self, startCount] in
            guard isAlive, startCount == self.startCount, let draft = queue.first else { return }
            call { [self] in
                world.server.store(sender: member, draft)
            } take: { [self] stored in
                isDraining = false
                if stored != nil, queue.first?.id == draft.id { queue.removeFirst() }
                drainSoon()
            }
        }
    }

    private func noteStored(_ draft: ChatDraft) {
        // With the mistake, the acknowledgement is what the member relies on.
        written[Int(draft.text) ?? -1] = true
    }

    /// Stores the state of the conversation and then the place of the stream, each at a moment of its own.
    private func writeSoon() {
        guard isAlive, !isWriting, world.mistake != .placeStoredBeforeTaken else { return }
        isWriting = true
        world.after(world.int(1...100)) { [self, startCount] in
            guard isAlive, startCount == self.startCount else { return }
            isDirty = false
            var state = machine.state(at: storedState?.place ?? "")
            let place = taken
            if state != storedState {
                state.place = place
                storedState = state
                for draft in state.drafts { written[Int(draft.text) ?? -1] = true }
            }
            world.after(world.int(1...20)) { [self, startCount] in
                guard isAlive, startCount == self.startCount else { return }
                storedPlace = place
                isWriting = false
                if isDirty { writeSoon() }
            }
        }
    }

    /// What is shown begins anywhere, has every number once, and is in order.
    private func checkScreen() {
        let window = machine.window
        let screen = [
            window.messages.count, machine.outbox.drafts.count, Int(window.first), Int(window.last ?? -1),
        ]
        guard screen != checkedScreen else { return }
        checkedScreen = screen
        var number = window.first
        for message in window.messages {
            if message.number != number {
                return world.fail("client \(index) shows \(window.messages.map(\.number)) from \(window.first)")
            }
            number += 1
        }
        let keys = machine.entries.map(\.id)
        if Set(keys).count != keys.count { world.fail("client \(index) shows a message twice") }
    }

    /// Whatever the server had when the link was opened has been taken.
    private func checkReplay() {
        guard let lastAtOpening, let place = EventID(taken), place.epoch == lastAtOpening.epoch,
            place.offset >= lastAtOpening.offset
        else { return world.fail("client \(index) sends before it has what it missed") }
    }
}
