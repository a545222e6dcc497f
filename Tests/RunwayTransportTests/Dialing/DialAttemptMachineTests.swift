import NIOCore
import Runway
import RunwayTesting
import Testing

@testable import RunwayTransport

/// The steps of one attempt, without a socket.
struct DialAttemptMachineTests {
    private func at(_ milliseconds: UInt64) -> NIODeadline { .uptimeNanoseconds(milliseconds * 1_000_000) }

    @Test func plainConnectionIsEstablishedByTCP() {
        var machine = DialAttemptMachine(usesProxy: false, usesTLS: false)
        machine.start(now: at(10))
        #expect(machine.connected(now: at(30)) == .establish(WireRecord(tcp: .milliseconds(20))))
        #expect(machine.isEnded)
    }

    @Test func tunnelEstablishesAPlainProxyConnection() {
        var machine = DialAttemptMachine(usesProxy: true, usesTLS: false)
        machine.start(now: at(10))
        #expect(machine.connected(now: at(30)) == .tunnel)
        #expect(machine.tunnelled() == .establish(WireRecord(tcp: .milliseconds(20))))
    }

    @Test func timeOfTLSIncludesTheProxys() {
        var machine = DialAttemptMachine(usesProxy: true, usesTLS: true)
        machine.start(now: at(10))
        #expect(machine.connected(now: at(30)) == .tunnel)
        #expect(machine.tunnelled() == .prepareTLS)
        #expect(machine.prepared() == true)
        #expect(machine.secured(now: at(70)) == WireRecord(tcp: .milliseconds(20), tls: .milliseconds(40)))
    }

    @Test func absentRootIsAReasonToRetryOnce() {
        var machine = DialAttemptMachine(usesProxy: false, usesTLS: true)
        machine.start(now: at(0))
        #expect(machine.connected(now: at(1)) == .prepareTLS)
        #expect(machine.prepared() == true)
        #expect(machine.handshakeFailed(mayLackRoot: true, now: at(10)) == .retryWithAllRoots)
        #expect(machine.connected(now: at(15)) == .prepareTLS)
        #expect(machine.prepared() == true)
        #expect(machine.handshakeFailed(mayLackRoot: true, now: at(20)) == .fail)
        #expect(machine.isEnded)
    }

    /// Every order of events that a channel, a proxy, TLS and an owner can cause.
    @Test func randomAttemptsEndOnceAndReportTheirTimes() throws {
        for seed in 1...1000 as ClosedRange<UInt64> {
            var life = AttemptLife(seed: seed)
            let complaint = life.run()
            if complaint != nil { try #require(complaint == nil, "seed \(seed)") }
        }
    }
}

/// One attempt in a random world.
private struct AttemptLife {
    private enum Step { case connecting, tunnelling, preparing, handshaking, over }

    private var random: SeededGenerator
    private let usesProxy: Bool
    private let usesTLS: Bool
    private var machine: DialAttemptMachine
    private var now: UInt64 = 0
    private var step = Step.connecting
    private var (start, connected): (UInt64, UInt64) = (0, 0)
    private var retryCount = 0
    private var complaint: String?

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        usesProxy = Bool.random(using: &random)
        usesTLS = Bool.random(using: &random)
        machine = DialAttemptMachine(usesProxy: usesProxy, usesTLS: usesTLS)
    }

    private var instant: NIODeadline { .uptimeNanoseconds(now) }

    private mutating func expect<Value: Equatable>(_ value: Value, _ expected: Value, _ event: String) {
        if value != expected, complaint == nil { complaint = "\(event): \(value), not \(expected)" }
    }

    mutating func run() -> String? {
        machine.start(now: instant)
        while step != .over, complaint == nil {
            now += UInt64.random(in: 0...100, using: &random)
            if Int.random(in: 0..<8, using: &random) == 0 { end() } else { advance() }
            expect(machine.isEnded, step == .over, "isEnded")
        }
        // What comes too late changes nothing.
        expect(machine.end(), false, "a second end")
        expect(machine.connected(now: instant), nil, "connected after the end")
        expect(machine.tunnelled(), nil, "tunnelled after the end")
        expect(machine.prepared(), false, "prepared after the end")
        expect(machine.secured(now: instant), nil, "secured after the end")
        expect(machine.handshakeFailed(mayLackRoot: true, now: instant), nil, "failed after the end")
        return complaint
    }

    private mutating func end() {
        expect(machine.end(), true, "the end")
        step = .over
    }

    private mutating func advance() {
        switch step {
        case .connecting:
            connected = now
            let next = machine.connected(now: instant)
            if usesProxy { expect(next, .tunnel, "connected") } else { expectSecuring(next, "connected") }
            if usesProxy { step = .tunnelling }
        case .tunnelling: expectSecuring(machine.tunnelled(), "tunnelled")
        case .preparing:
            expect(machine.prepared(), true, "prepared")
            step = .handshaking
        case .handshaking: endHandshake()
        case .over: break
        }
    }

    private mutating func expectSecuring(_ next: DialAttemptMachine.Next?, _ event: String) {
        let tcp = Duration.nanoseconds(Int64(connected - start))
        expect(next, usesTLS ? .prepareTLS : .establish(WireRecord(tcp: tcp)), event)
        step = usesTLS ? .preparing : .over
    }

    private mutating func endHandshake() {
        if Bool.random(using: &random) {
            let times = WireRecord(
                tcp: .nanoseconds(Int64(connected - start)), tls: .nanoseconds(Int64(now - connected)))
            expect(machine.secured(now: instant), times, "secured")
            step = .over
            return
        }
        let mayLackRoot = Bool.random(using: &random)
        let retries = mayLackRoot && retryCount == 0
        let failure = machine.handshakeFailed(mayLackRoot: mayLackRoot, now: instant)
        expect(failure, retries ? .retryWithAllRoots : .fail, "handshake failed")
        retryCount += retries ? 1 : 0
        (start, step) = retries ? (now, .connecting) : (start, .over)
    }
}
