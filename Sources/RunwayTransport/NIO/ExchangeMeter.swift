import NIOCore
import Runway

/// The times of an exchange's steps on its connection, and the numbers of sent and received bytes.
struct ExchangeMeter {
    /// The time at which the exchange was submitted to its pool.
    private var submitted: NIODeadline?
    /// The time at which the connection started to carry the exchange.
    private(set) var begun: NIODeadline?
    /// The time at which the request was sent in full.
    var sent: NIODeadline?
    /// The time at which the first byte of the response arrived.
    var firstByte: NIODeadline?
    var end: NIODeadline?
    var sentByteCount = 0
    var receivedByteCount = 0
    var informationalCount = 0
    var informationalStatuses: [Int] = []

    /// Notes that a connection starts to carry the exchange, maybe after another lost it.
    mutating func start(after submitted: NIODeadline) {
        self = ExchangeMeter()
        self.submitted = submitted
        begun = .now()
    }

    /// Returns the record of the wire for a flight record.
    func record(isReused: Bool, _ facts: ConnectionFacts?) -> WireRecord {
        guard let begun, let facts else { return WireRecord() }
        var record = facts.wire(isReused: isReused)
        record.queueing = submitted.map { Duration(begun - $0) }
        record.sending = sent.map { Duration($0 - begun) }
        if let sent, let firstByte, firstByte >= sent { record.waiting = Duration(firstByte - sent) }
        if let firstByte, let end { record.receiving = Duration(end - firstByte) }
        record.sentByteCount = sentByteCount > 0 ? sentByteCount : nil
        record.receivedByteCount = receivedByteCount > 0 ? receivedByteCount : nil
        record.informationalStatuses = informationalStatuses
        return record
    }
}
