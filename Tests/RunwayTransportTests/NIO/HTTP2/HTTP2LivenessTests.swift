import NIOCore
import Testing

@testable import RunwayTransport

/// When a PING is sent over HTTP/2, and when the connection counts as lost.
struct HTTP2LivenessTests {
    private func at(_ seconds: UInt64) -> NIODeadline { .uptimeNanoseconds(seconds * 1_000_000_000) }

    /// Pings after 15 s, waits 10 s for the acknowledgement, and 60 s for a response.
    private func liveness() -> HTTP2Liveness {
        var configuration = TransportConfiguration(idleTimeout: .seconds(60))
        configuration.wire.pingInterval = .seconds(15)
        configuration.wire.pingTimeout = .seconds(10)
        return HTTP2Liveness(configuration, now: at(100))
    }

    @Test func silenceIsPingedOnce() {
        var liveness = liveness()
        let pings = [114, 115, 120].map { liveness.pingIfSilent(at: at($0), expectsBytes: true) }
        #expect(pings == [false, true, false])
    }

    @Test func expectedSilenceIsNotPinged() {
        var liveness = liveness()
        let isPinged = liveness.pingIfSilent(at: at(200), expectsBytes: false)
        #expect(!isPinged)
        #expect(liveness.nextCheck(after: at(200), expectsBytes: false) == at(260))
    }

    @Test func unacknowledgedPingLosesTheConnection() {
        var liveness = liveness()
        let pings = [101, 102].map { liveness.ping(at: at($0)) }
        #expect(pings == [true, false])
        #expect(liveness.nextCheck(at: at(105), expectsBytes: true) == at(111))
        #expect(!liveness.isLost(at: at(110)) && liveness.isLost(at: at(111)))
    }

    @Test func anyByteAcknowledgesAPing() {
        var liveness = liveness()
        _ = liveness.ping(at: at(101))
        liveness.received(at: at(105))
        #expect(!liveness.isLost(at: at(200)) && liveness.lastRead == at(105))
        #expect(liveness.nextCheck(at: at(110), expectsBytes: true) == at(120))
    }
}
