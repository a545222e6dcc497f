import Foundation
import Runway

/// This member's messages until they are shown as stored. A pure state machine: callers pass the time.
///
/// Messages are sent one at a time, so that they arrive in the order in which they were written. A message may be sent
/// before an earlier one if the offline queue has the earlier one, and can't send or read it.
struct ChatOutbox: Sendable {
    private let member: String
    private(set) var drafts: [ChatDraft] = []
    /// The time at which the client fetches a message that the server has stored but the stream has not delivered.
    private(set) var proofDeadline: Duration?
    private var sending: UUID?
    /// Whether an earlier call may have delivered the message that is in flight.
    private var wasMaybeSent = false
    private var pause = Backoff.ofChat

    init(of member: String) { self.member = member }

    /// Whether the server has stored a message that has not arrived over the stream yet.
    var awaitsStored: Bool {
        drafts.contains { if case .stored = $0.state { true } else { false } }
    }

    /// The time at which the next message can be sent; `nil` if no message waits, or one is in flight.
    var sendDeadline: Duration? {
        sending == nil && drafts.contains { $0.state == .waiting } ? pause.end : nil
    }

    /// Adds a message. Returns `false` if `maximumCount` messages are already waiting.
    mutating func add(_ draft: ChatDraft, upTo maximumCount: Int) -> Bool {
        guard drafts.count < maximumCount else { return false }
        drafts.append(draft)
        return true
    }

    /// Inserts the messages of an earlier run before those that were written since the client started.
    mutating func restore(_ stored: [ChatDraft]) {
        drafts = stored.map(\.withoutCall) + drafts
    }

    mutating func stop() {
        drafts = drafts.map(\.withoutCall)
        (sending, proofDeadline, pause) = (nil, nil, .ofChat)
    }

    mutating func next(at now: Duration) -> ChatDraft? {
        guard sending == nil, now >= pause.end, let index = drafts.firstIndex(where: { $0.state == .waiting }) else {
            return nil
        }
        wasMaybeSent = drafts[index].mayBeSent
        (drafts[index].state, drafts[index].mayBeSent) = (.sending, true)
        sending = drafts[index].id
        return drafts[index]
    }

    /// Returns whether a stored message is overdue, so that it has to be fetched.
    mutating func isProofDue(at now: Duration) -> Bool {
        guard let proof = proofDeadline, now >= proof else { return false }
        proofDeadline = nil
        return awaitsStored
    }
}

extension ChatOutbox {
    /// Ends the call in flight. Returns `false` if the call sent a message other than `id`.
    mutating func endSending(_ id: UUID) -> Bool {
        guard sending == id else { return false }
        sending = nil
        return true
    }

    /// Records that the server has stored a message.
    ///
    /// - Returns: The message if it is the next one to show; `nil` if earlier ones are missing, or it is shown already.
    mutating func sent(
        _ id: UUID, number: Int64, date: Date, after last: Int64?, at now: Duration, proofTime: Duration
    ) -> ShownMessage? {
        pause.reset()
        guard let index = drafts.firstIndex(where: { $0.id == id }) else { return nil }
        if let last, number == last + 1 {
            return ShownMessage(number: number, sender: member, id: id, text: drafts[index].text, date: date)
        }
        if let last, number <= last {
            drafts.remove(at: index)
        } else {
            drafts[index].state = .stored(number)
            proofDeadline = proofDeadline ?? (now + proofTime)
        }
        return nil
    }

    mutating func sendFailed(
        _ id: UUID, _ failure: ChatMachine.Failure, at now: Duration,
        _ random: inout any RandomNumberGenerator & Sendable
    ) {
        if let index = drafts.firstIndex(where: { $0.id == id }) {
            switch failure {
            case .queued: drafts[index].state = .queued
            // An earlier call whose response was lost may have delivered the message.
            case .refused(let reason): (drafts[index].state, drafts[index].mayBeSent) = (.failed(reason), wasMaybeSent)
            case .notSent: (drafts[index].state, drafts[index].mayBeSent) = (.waiting, wasMaybeSent)
            case .transient: drafts[index].state = .waiting
            }
        }
        if failure == .transient || failure == .notSent { pause.fail(at: now, using: &random) } else { pause.reset() }
    }

    /// Sends a refused message again, or a message that the offline queue has. Returns `false` if there is no such
    /// message. The server recognises a message that it has stored already.
    mutating func retry(_ id: UUID) -> Bool {
        guard let index = drafts.firstIndex(where: { $0.id == id }) else { return false }
        switch drafts[index].state {
        case .failed, .queued: drafts[index].state = .waiting
        case .waiting, .sending, .stored: break
        }
        return true
    }

    /// Removes a message that was not sent, or that was refused.
    ///
    /// - Returns: Whether the server certainly does not have the message. A refused message is removed even if the
    ///   server may have it, since the server may never stop refusing it.
    mutating func discard(_ id: UUID) -> Bool {
        guard let index = drafts.firstIndex(where: { $0.id == id }) else { return false }
        let draft = drafts[index]
        let isRefused = if case .failed = draft.state { true } else { false }
        if isRefused || !draft.mayBeSent { drafts.remove(at: index) }
        return !draft.mayBeSent
    }
}

extension ChatOutbox {
    /// Processes a message that the server has stored. It may be one of this member's.
    mutating func received(_ message: ShownMessage) {
        if message.isFrom(member) { drafts.removeAll { $0.id == message.id } }
    }

    /// Records that the client will not show the messages before a number, because it has skipped them.
    mutating func passedOver(before number: Int64) {
        drafts.removeAll { if case .stored(let stored) = $0.state { stored < number } else { false } }
    }

    /// Prepares the messages for a screen that starts again with newer messages. The skipped messages may include ones
    /// from the offline queue, so these are sent again. The server recognises the messages that it has stored already.
    ///
    /// - Parameter isLoss: Whether the server has lost messages. They may include stored messages of this member.
    mutating func restart(afterLoss isLoss: Bool) {
        for index in drafts.indices {
            switch drafts[index].state {
            case .queued: drafts[index].state = .waiting
            case .stored: if isLoss { drafts[index].state = .waiting }
            case .waiting, .sending, .failed: break
            }
        }
    }
}

extension ChatDraft {
    /// A copy of this draft that has no call in flight. If a call with the draft was in flight, the draft is ready to
    /// be sent again, since the outcome of the call is unknown.
    fileprivate var withoutCall: ChatDraft {
        var draft = self
        if state == .sending { draft.state = .waiting }
        return draft
    }
}
