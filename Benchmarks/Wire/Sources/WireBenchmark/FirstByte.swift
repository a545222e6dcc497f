import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Reads a body of so many bytes to its end and gives when its first part came, as ``monotonicTime()`` has it.
func firstByte<Body: AsyncSequence>(
    of body: Body, byteCount: Int, count: (Body.Element) -> Int
) async throws -> Double {
    var first: Double?
    var received = 0
    for try await part in body {
        if first == nil { first = monotonicTime() }
        received += count(part)
    }
    guard let first, received == byteCount else { throw UnexpectedResponse() }
    return first
}

/// What a session of URLSession reports of its one response at a time.
final class ArrivalDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private struct Arrival {
        var first: Double?
        var byteCount = 0
        var end: CheckedContinuation<Void, any Error>?
    }

    /// Guards what has come so far.
    private let arrival = Mutex(Arrival())

    /// Starts a task of so many bytes, waits for its end, and gives when its first byte came.
    func firstByte(of task: URLSessionDataTask, byteCount: Int) async throws -> Double {
        try await withCheckedThrowingContinuation { end in
            arrival.withLock { $0 = Arrival(end: end) }
            task.resume()
        }
        let (first, received) = arrival.withLock { ($0.first, $0.byteCount) }
        guard let first, received == byteCount else { throw UnexpectedResponse() }
        return first
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let now = monotonicTime()
        arrival.withLock { arrival in
            if arrival.first == nil { arrival.first = now }
            arrival.byteCount += data.count
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let end = arrival.withLock { $0.end.take() }
        if let error { end?.resume(throwing: error) } else { end?.resume() }
    }
}
