import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// A layer whose wire brings what a test wrote down, one result an attempt and the last one for ever, and whose clock goes from one
/// wait to the next by itself.
struct FlakyLayer {
    let layer: StubbedLayer

    init(
        _ results: [Result<Response, NetworkError>], status: any NetworkStatusSource = SettableNetworkStatus(),
        admission: AdmissionLimits = .none, retrying: AttemptLimits = .retrying,
        onAttempt: @escaping @Sendable () -> Void = {}
    ) {
        let rest = RestOfScript(results)
        layer = StubbedLayer(status: status, admission: admission, retrying: retrying) { _ throws(NetworkError) in
            onAttempt()
            return try rest.next().get()
        }
    }

    var attemptCount: Int { layer.transport.requests.count }

    /// Makes a call; time passes only while it waits for an attempt.
    func call<E: Endpoint>(
        _ endpoint: E, options: CallOptions = .standard, within deadline: Duration = .seconds(19)
    ) async -> Result<RawData, NetworkError> {
        await layer.drive(within: deadline) { network in
            do throws(NetworkError) {
                return .success(try await network.call(endpoint, options: options))
            } catch {
                return .failure(error)
            }
        }
    }

    /// What the retrying stage decided in the only call so far.
    func decisions() async throws -> [RetryDecision] { try await layer.record().decisions(of: RetryDecision.self) }
}

extension StubbedLayer {
    /// Runs an operation, and moves the clock on to every wait that ends before the deadline of its calls.
    func drive<Value: Sendable>(
        within deadline: Duration = .seconds(19), _ operation: @escaping @Sendable (NetworkLayer) async -> Value
    ) async -> Value {
        let isDone = Mutex(false)
        let deadline = clock.now.offset + deadline
        let operation = Task { [network] in
            defer { isDone.withLock { $0 = true } }
            return await operation(network)
        }
        do {
            try await waitUntil("the operation to end") {
                isDone.withLock { $0 }
            } meanwhile: {
                if let next = clock.nextDeadline, next.offset < deadline { clock.advance(to: next) }
            }
        } catch {
            Issue.record(error)
            operation.cancel()
        }
        return await operation.value
    }
}

private final class RestOfScript: Sendable {
    /// Guards what is still to come.
    private let results: Mutex<[Result<Response, NetworkError>]>

    init(_ results: [Result<Response, NetworkError>]) { self.results = Mutex(results) }

    func next() -> Result<Response, NetworkError> {
        results.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
    }
}

extension Result<Response, NetworkError> {
    static var fine: Self { .success(.json("{}")) }

    static func status(_ code: Int, retryAfter: String? = nil) -> Self {
        var response = Response.json("{}", status: HTTPResponse.Status(code: code))
        response.head.headerFields[.retryAfter] = retryAfter
        return .success(response)
    }

    static func lost(_ kind: NetworkError.Kind = .noNetwork, _ sending: SendState = .unknown) -> Self {
        .failure(NetworkError(kind, in: .transporting, "gone", sending: sending))
    }
}
