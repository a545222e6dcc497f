import Foundation
import Runway

/// The messages that a member has written and that are not shown as stored yet. Pure: times are passed to it.
///
/// The messages are sent one at a time, so that they arrive in the order in which they were written. A later message
/// may overtake an earlier one that the offline queue has and can't send, or whose file can't be read.
struct ChatOutbox: Sendable {
    private let member: String
    private(set) var drafts: [ChatDraft] = []
    /// The time at which a message is fetched that the server has stored but the stream has not brought.
    private(set) var proofDeadline: Duration?
    private var sending: UUID?
    /// Whether an earlier call may have sent the message that is being sent.
    private var wasMaybeSent = false
    private var pause = Backoff.ofChat

    init(of member: String) { self.member = member }

    /// Whether there is a message that the server has stored but that has not arrived yet.
    var awaitsStored: Bool {
        drafts.contains { if case .stored = $0.state { true } else { false } }
    }

    /// The time at which the next message can be sent; `nil` if none waits, or one is being sent.
    var sendDeadline: Duration? {
        sending == nil && drafts.contains { $0.state == .waiting } ? pause.end : nil
    }

    /// Adds a message; returns `false` if `maximumCount` messages wait already.
    mutating func add(_ draft: ChatDraft, upTo maximumCount: Int) -> Bool {
        guard drafts.count < maximumCount else { return false }
        drafts.append(draft)
        return true
    }

    /// Adds the messages that an earlier run stored, before those that were written since then.
    mutating func restore(_ stored: [ChatDraft]) {
        drafts = stored.map(\.withoutCall) + drafts
    }

    /// Notes that the calls in flight were cancelled.
    mutating func stop() {
        drafts = drafts.map(\.withoutCall)
        (sending, proofDeadline, pause) = (nil, nil, .ofChat)
    }

    /// Returns the message that is sent now; `nil` if none is.
    mutating func next(at now: Duration) -> ChatDraft? {
        guard sending == nil, now >= pause.end, let index = drafts.firstIndex(where: { $0.state == .waiting }) else {
            return nil
        }
        wasMaybeSent = drafts[index].mayBeSent
        (drafts[index].state, drafts[index].mayBeSent) = (.sending, true)
        sending = drafts[index].id
        return drafts[index]
    }

    /// Returns whether a stored message has not arrived in time, and has to be fetched.
    mutating func isProofDue(at now: Duration) -> Bool {
        guard let proof = proofDeadline, now >= proof else { return false }
        proofDeadline = nil
        return awaitsStored
    }
}

// The results of calls with messages.
extension ChatOutbox {
    /// Notes that a call with a message ended. Returns `false` if it is not the message that is being sent.
    mutating func endSending(_ id: UUID) -> Bool {
        guard sending == id else { return false }
        sending = nil
        return true
    }

    /// Notes that the server has stored a message.
    ///
    /// - Returns: The message, if it is the next one to be shown; `nil` if messages before it have not arrived, or if
    ///   it is shown already.
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

    /// Notes that a message could not be sent.
    mutating func sendFailed(
        _ id: UUID, _ failure: ChatMachine.Failure, at now: Duration,
        _ random: inout any RandomNumberGenerator & Sendable
    ) {
        if let index = drafts.firstIndex(where: { $0.id == id }) {
            switch failure {
            case .queued: drafts[index].state = .queued
            // The refusal says nothing about an earlier call, whose response was lost.
            case .refused(let reason): (drafts[index].state, drafts[index].mayBeSent) = (.failed(reason), wasMaybeSent)
            case .notSent: (drafts[index].state, drafts[index].mayBeSent) = (.waiting, wasMaybeSent)
            case .transient: drafts[index].state = .waiting
            }
        }
        if failure == .transient || failure == .notSent { pause.fail(at: now, using: &random) } else { pause.reset() }
    }

    /// Sends a message again that was refused, or that the offline queue has; returns `false` if there is no such
    /// message. The server recognises a message that it has.
    mutating func retry(_ id: UUID) -> Bool {
        guard let index = drafts.firstIndex(where: { $0.id == id }) else { return false }
        switch drafts[index].state {
        case .failed, .queued: drafts[index].state = .waiting
        case .waiting, .sending, .stored: break
        }
        return true
    }

    /// Removes a message that has not been sent, or that was refused.
    ///
    /// - Returns: Whether the server certainly does not have the message. A refused message is removed from the drafts
    ///   even if the server may have it: the server may refuse it for ever.
    mutating func discard(_ id: UUID) -> Bool {
        guard let index = drafts.firstIndex(where: { $0.id == id }) else { return false }
        let draft = drafts[index]
        let isRefused = if case .failed = draft.state { true } else { false }
        if isRefused || !draft.mayBeSent { drafts.remove(at: index) }
        return !draft.mayBeSent
    }
}

// Events of the window of the conversation.
extension ChatOutbox {
    /// Notes that the server has a message, which may be one of the member's.
    mutating func received(_ message: ShownMessage) {
        if message.isFrom(member) { drafts.removeAll { $0.id == message.id } }
    }

    /// Notes that the messages before a number are skipped.
    mutating func passedOver(before number: Int64) {
        drafts.removeAll { if case .stored(let stored) = $0.state { stored < number } else { false } }
    }

    /// Prepares the messages for a screen that begins anew. Queued messages may be among the skipped ones, and are sent
    /// again. The server recognises the messages that it has.
    ///
    /// - Parameter isLoss: Whether the server has lost messages. Messages of this member that the server had stored may
    ///   be among the lost ones.
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
    /// Returns the message in a state in which it is sent again if a call with it was in flight: the outcome of that
    /// call is unknown.
    fileprivate var withoutCall: ChatDraft {
        var draft = self
        if state == .sending { draft.state = .waiting }
        return draft
    }
}
