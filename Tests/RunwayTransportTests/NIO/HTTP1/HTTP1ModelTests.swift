import Foundation
import HTTPTypes
import NIOCore
import RunwayTesting
import Testing

@testable import RunwayTransport

/// Random lives of an HTTP/1.1 connection, compared with a model that remembers all that happened.
///
/// `RUNWAY_HTTP1_LIVES` is the number of lives. A failure prints its seed, and `RUNWAY_HTTP1_SEED` repeats it.
struct HTTP1ModelTests {
    @Test func everyDecisionAgreesWithTheModel() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["RUNWAY_HTTP1_LIVES"].flatMap { UInt64($0) } ?? 2000
        let only = environment["RUNWAY_HTTP1_SEED"].flatMap { UInt64($0) }
        var ends: Set<String> = []
        for seed in only.map({ $0...$0 }) ?? 1...count {
            var life = HTTP1Life(seed: seed)
            let complaint = life.run(steps: 200)
            try #require(complaint == nil, "seed \(seed)")
            ends.formUnion(life.seen)
        }
        if only == nil {
            #expect(
                ends.isSuperset(of: HTTP1Life.expected), "missing: \(HTTP1Life.expected.subtracting(ends).sorted())")
        }
    }
}

/// One connection, a random world around it, and what that world knows.
private struct HTTP1Life {
    /// What has to happen in some life.
    static let expected: Set<String> = [
        "reused", "resent", "abandoned", "unsolicited", "silent", "late", "paused", "resumed", "complete at close",
        "lost", "lost by error", "cancelled", "not persistent", "ended before sent", "surplus",
    ]

    /// A request, and what happened to it.
    private struct InFlightRequest {
        let id: RequestID
        let body: HTTP1Machine.Body
        var waitsForContinue: Bool
        /// Pieces that the channel has not written.
        var pieceCount = 0
        /// Whether a supplied part is not written.
        var isPartPending = false
        var sentAt: UInt64?
        var isAbandoned = false
        var hasFirstByte = false
        var hasHead = false
        var unreadByteCount = 0
        var lastProgress: UInt64
    }

    private var machine = HTTP1Machine()
    private var random: SeededGenerator
    private var now: UInt64 = 1
    private var requestCount: RequestID = 0
    private var inFlight: InFlightRequest?
    private var isPaused = false
    private var isReadPending = false
    private var hasError = false
    /// Whether a response has ended in a read that has not completed.
    private var isBeingRead = false
    private var closed: WireError?
    private var complaint: String?
    private(set) var seen: Set<String> = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Takes so many steps; returns what was wrong.
    mutating func run(steps: Int) -> String? {
        for _ in 0..<steps where complaint == nil {
            now += UInt64.random(in: 0...3, using: &random)
            if inFlight == nil { stepIdle() } else { stepInFlight() }
            if machine.closeReason != closed {
                complain("closed because \(machine.closeReason.map { "\($0)" } ?? "-")")
            }
        }
        return complaint
    }

    private var instant: NIODeadline { .uptimeNanoseconds(now * 1_000_000_000) }

    private mutating func complain(_ text: String) { if complaint == nil { complaint = "second \(now): \(text)" } }

    private mutating func expect<Value: Equatable>(_ value: Value, _ expected: Value, _ event: String) {
        if value != expected { complain("\(event): \(value), not \(expected)") }
    }

    private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func close(_ reason: WireError = .closed) {
        if closed == nil { closed = reason }
        (inFlight, isPaused, isReadPending, isBeingRead) = (nil, false, false, false)
    }
}

/// Without a request.
extension HTTP1Life {
    private mutating func stepIdle() {
        switch Int.random(in: 0..<40, using: &random) {
        case 0: receiveUnsolicited()
        case 1:
            expect(machine.checkSilence(SilenceLimits(idleTimeout: .seconds(9)), now: instant), .none, "idle")
        case 2: expect(machine.readRequested(), true, "read while idle")
        case 3: ignoreStale()
        case 4 where chance(10): endChannel()
        case 5 where chance(10):
            expect(machine.close(), closed == nil, "close")
            close()
        case 6 where isBeingRead:
            machine.errorCaught(hasError ? WireError.silent : ChannelError.eof)
            hasError = true
        default:
            completeRead()
            if !isBeingRead { start() }
        }
    }

    private mutating func completeRead() {
        expect(machine.readCompleted(), isBeingRead && !hasError, "read completed")
        if !hasError { isBeingRead = false }
    }

    private mutating func receiveUnsolicited() {
        expect(machine.bytesReceived(now: instant), closed == nil ? .close : .ignore, "unsolicited bytes")
        if closed == nil { seen.insert(isBeingRead ? "surplus" : "unsolicited") }
        close(.unsolicited)
    }

    private mutating func start() {
        requestCount += 1
        let body = [HTTP1Machine.Body.whole, .pieces, .parts].randomElement(using: &random) ?? .whole
        let waits = chance(3)
        let start = machine.start(requestCount, body, expectsContinue: waits, now: instant)
        if closed != nil { return expect(start, .refuse, "start") }
        expect(start, waits ? .writeHead : .writeHeadAndBody, "start")
        if requestCount > 1 { seen.insert("reused") }
        inFlight = InFlightRequest(id: requestCount, body: body, waitsForContinue: waits, lastProgress: now)
        if !waits { writeBody() }
    }

    private mutating func writeBody() {
        switch inFlight?.body {
        case .whole?: inFlight?.sentAt = now
        case .pieces?: inFlight?.pieceCount = Int.random(in: 1...4, using: &random)
        case .parts?, nil: break
        }
    }

    /// What is left over from earlier requests changes nothing.
    private mutating func ignoreStale() {
        let stale = requestCount
        expect(machine.startBody(of: stale, now: instant) == nil, true, "stale start of the body")
        expect(machine.pieceWritten(of: stale, isLast: true, now: instant), false, "stale piece")
        expect(machine.partSupplied(for: stale), false, "stale part")
        machine.partWritten(of: stale, now: instant)
        expect(machine.partsEnded(for: stale, now: instant), false, "stale end")
        expect(machine.bytesConsumed(10, of: stale, now: instant), false, "stale reader")
        expect(machine.cancel(stale), false, "stale cancellation")
    }

    private mutating func endChannel() {
        let isComplete = chance(2)
        let end = machine.channelClosed(isComplete ? .success(true) : .failure(.closedInResponse))
        switch (end, inFlight, closed) {
        case (.ignore, nil, .some): break
        case (.close, nil, nil): break
        case (.complete, .some, nil) where isComplete && !hasError: seen.insert("complete at close")
        case (.lose(let error), .some, nil) where hasError:
            seen.insert("lost by error")
            expect(error is ChannelError, true, "the first error")
        case (.lose(let error), .some, nil) where !isComplete:
            seen.insert("lost")
            expect(error as? WireError, .closedInResponse, "the loss")
        default: complain("channel closed: \(end)")
        }
        close()
    }
}

/// With a request.
extension HTTP1Life {
    private mutating func stepInFlight() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<10: continueBody()
        case 10..<35: send()
        case 35..<65: receive()
        case 65..<75: consume()
        case 75..<83: requestRead()
        case 83..<94: checkSilence()
        case 94: cancel()
        case 95 where chance(3):
            machine.errorCaught(hasError ? WireError.silent : ChannelError.eof)
            hasError = true
        case 96 where chance(2): endChannel()
        case 98: expect(machine.readCompleted(), false, "read completed within a response")
        case 97 where chance(4):
            expect(machine.close(), true, "close")
            close()
        default: break
        }
    }

    private mutating func continueBody() {
        guard let request = inFlight else { return }
        let body = machine.startBody(of: request.id, now: instant)
        expect(body, request.waitsForContinue ? request.body : nil, "start of the body")
        guard request.waitsForContinue else { return }
        inFlight?.waitsForContinue = false
        inFlight?.lastProgress = now
        writeBody()
    }

    private mutating func send() {
        guard let request = inFlight, !request.waitsForContinue else { return }
        switch request.body {
        case .whole: break
        case .pieces:
            guard request.pieceCount > 0 else { return }
            inFlight?.pieceCount -= 1
            inFlight?.lastProgress = now
            let isLast = request.pieceCount == 1
            expect(machine.pieceWritten(of: request.id, isLast: isLast, now: instant), isLast, "piece written")
            if isLast, !request.isAbandoned { inFlight?.sentAt = now }
        case .parts: sendPart(of: request)
        }
    }

    private mutating func sendPart(of request: InFlightRequest) {
        if request.isPartPending {
            machine.partWritten(of: request.id, now: instant)
            inFlight?.isPartPending = false
            inFlight?.lastProgress = now
        } else if request.sentAt == nil, chance(4) {
            expect(machine.partsEnded(for: request.id, now: instant), !request.isAbandoned, "end of the body")
            guard !request.isAbandoned else { return }
            inFlight?.sentAt = now
            inFlight?.lastProgress = now
        } else if request.sentAt == nil {
            expect(machine.partSupplied(for: request.id), !request.isAbandoned, "part supplied")
            inFlight?.isPartPending = !request.isAbandoned
        }
    }

    private mutating func receive() {
        guard let request = inFlight else { return }
        expect(machine.bytesReceived(now: instant), .parse, "bytes")
        inFlight?.lastProgress = now
        inFlight?.hasFirstByte = true
        if chance(4) { return }
        if request.hasHead { return chance(3) ? endResponse() : receiveBody() }
        if chance(4) {
            machine.informationalRead()
            inFlight?.hasFirstByte = false
        } else {
            receiveHead()
        }
    }

    private mutating func receiveHead() {
        guard let request = inFlight else { return }
        let status = [HTTPResponse.Status.ok, .notFound, .expectationFailed].randomElement(using: &random) ?? .ok
        let isUnsent = request.sentAt == nil && !request.isAbandoned
        let expected: HTTP1Machine.HeadAction =
            if request.waitsForContinue, status == .expectationFailed {
                .resendWithoutExpectation
            } else if request.waitsForContinue || (isUnsent && status.code >= 300) {
                .abandonRequest
            } else {
                .accept
            }
        expect(machine.headRead(status), expected, "head \(status)")
        switch expected {
        case .resendWithoutExpectation:
            seen.insert("resent")
            close()
        case .abandonRequest:
            seen.insert("abandoned")
            inFlight?.isAbandoned = true
            inFlight?.waitsForContinue = false
            inFlight?.hasHead = true
        case .accept: inFlight?.hasHead = true
        }
    }

    private mutating func receiveBody() {
        guard let unread = inFlight?.unreadByteCount else { return }
        let byteCount = Int.random(in: 0...200_000, using: &random)
        machine.bodyRead(byteCount: byteCount)
        inFlight?.unreadByteCount += byteCount
        if unread + byteCount > HTTP1Machine.highWaterByteCount {
            isPaused = true
            seen.insert("paused")
        }
    }

    private mutating func endResponse() {
        guard let request = inFlight else { return }
        let isPersistent = !chance(6)
        let isReusable = isPersistent && request.sentAt != nil && !hasError
        let end = machine.responseEnded(isPersistent: isPersistent)
        expect(end, HTTP1Machine.End(isReusable: isReusable, isReadPending: isReadPending), "end")
        if !isPersistent { seen.insert("not persistent") }
        if request.sentAt == nil { seen.insert("ended before sent") }
        (inFlight, isPaused, isReadPending) = (nil, false, false)
        if isReusable { isBeingRead = true } else { close() }
    }

    private mutating func consume() {
        guard let request = inFlight, request.unreadByteCount > 0 else { return }
        let byteCount = Int.random(in: 1...request.unreadByteCount, using: &random)
        let isRead = machine.bytesConsumed(byteCount, of: request.id, now: instant)
        inFlight?.unreadByteCount -= byteCount
        let resumes = isPaused && request.unreadByteCount - byteCount <= HTTP1Machine.lowWaterByteCount
        expect(isRead, resumes && isReadPending, "bytes consumed")
        guard resumes else { return }
        seen.insert("resumed")
        inFlight?.lastProgress = now
        (isPaused, isReadPending) = (false, false)
    }

    private mutating func requestRead() {
        expect(machine.readRequested(), !isPaused, "read")
        if isPaused { isReadPending = true }
    }

    private mutating func checkSilence() {
        guard let request = inFlight else { return }
        let limit: UInt64? = chance(2) ? 6 : nil
        let waitsForPart =
            request.body == .parts && !request.waitsForContinue && !request.isPartPending && request.sentAt == nil
            && !request.isAbandoned
        if isPaused || waitsForPart { inFlight?.lastProgress = now }
        let idleDue = (inFlight?.lastProgress ?? now) + 9
        var (due, error) = (idleDue, WireError.silent)
        if let limit, let sentAt = request.sentAt, !request.hasFirstByte, !request.hasHead, sentAt + limit < idleDue {
            (due, error) = (sentAt + limit, .noFirstByte)
        }
        let limits = SilenceLimits(
            idleTimeout: .seconds(9), firstByteTimeout: limit.map { .seconds(Int64($0)) })
        let silence = machine.checkSilence(limits, now: instant)
        if now < due { return expect(silence, .check(at: .uptimeNanoseconds(due * 1_000_000_000)), "silence") }
        expect(silence, .timedOut(error), "silence")
        seen.insert(error == .silent ? "silent" : "late")
        close()
    }

    private mutating func cancel() {
        guard let request = inFlight else { return }
        expect(machine.cancel(request.id + 1), false, "cancellation of another")
        expect(machine.cancel(request.id), true, "cancellation")
        seen.insert("cancelled")
        close()
    }
}
