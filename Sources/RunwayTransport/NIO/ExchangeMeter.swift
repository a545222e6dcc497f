import NIOCore
import Runway

/// The times of an exchange's steps on its connection, and the numbers of sent and received bytes.
struct ExchangeMeter {
    private var submitted: NIODeadline?
    /// The time when the connection started to carry the exchange.
    private(set) var begun: NIODeadline?
    /// The time when the last byte of the request was sent.
    var sent: NIODeadline?
    var firstByte: NIODeadline?
    var end: NIODeadline?
    var sentByteCount = 0
    var receivedByteCount = 0
    var informationalCount = 0
    var informationalStatuses: [Int] = []

    /// Starts to measure an exchange on a connection. Called again if the exchange moves to another connection.
    mutating func start(after submitted: NIODeadline) {
        self = ExchangeMeter()
        self.submitted = submitted
        begun = .now()
    }

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
