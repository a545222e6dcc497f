import HTTPTypes
import Runway
import Synchronization

/// The text of the progress line of one call.
final class CallProgress: Sendable {
    private enum Phase {
        case waiting
        case receiving(byteCount: Int, expected: Int?)
        case gaveWay
    }

    private let host: String
    /// Guards the phase of the call.
    private let phase = Mutex(Phase.waiting)

    init(host: String) { self.host = host }

    func began(_ head: HTTPResponse) {
        let expected = head.headerFields[.contentLength].flatMap { Int($0) }
        phase.withLock { $0 = .receiving(byteCount: 0, expected: expected) }
    }

    func received(_ count: Int) {
        phase.withLock { phase in
            guard case .receiving(let byteCount, let expected) = phase else { return }
            phase = .receiving(byteCount: byteCount + count, expected: expected)
        }
    }

    func reached(_ progress: TransferProgress) {
        phase.withLock { $0 = .receiving(byteCount: progress.completedByteCount, expected: progress.totalByteCount) }
    }

    /// Removes the progress line if the response is written to the terminal, too.
    func giveWay() {
        if Console.output.isTerminal { phase.withLock { $0 = .gaveWay } }
    }

    /// Returns the text of the line.
    ///
    /// - Parameter elapsed: The time since the start of the call.
    func text(_ elapsed: Duration) -> String? {
        let time = "\(elapsed.components.seconds).\(elapsed.components.attoseconds / 100_000_000_000_000_000) s"
        switch phase.withLock({ $0 }) {
        case .waiting: return "Waiting for \(host), \(time)"
        case .receiving(let byteCount, let expected):
            return "Received \(ByteCount(byteCount))\(expected.map { " of \(ByteCount($0))" } ?? ""), \(time)"
        case .gaveWay: return nil
        }
    }
}
