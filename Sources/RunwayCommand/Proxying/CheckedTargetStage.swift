import HTTPTypes
import Runway
import RunwayTransport

/// Sends a request to an address of its host, but only to one that ``ForwardTargets`` allows. Bodies are unchanged.
///
/// The stage is directly above the transport. So it checks every attempt, and the caches above it see the host's name.
struct CheckedTargetStage: RequestStage {
    let targets: ForwardTargets

    var step: FlightStep { .customStage("target") }
    /// The stage may end after the deadline of the call, since a name lookup can't be cancelled.
    var endsInTime: Bool { false }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        let origin = Origin(request.head)
        let addresses: [IPAddress]
        do {
            addresses = try await targets.addresses(of: origin.bareHost)
        } catch let error as ForbiddenTarget {
            throw NetworkError(.invalidParameters, in: step, "\(error)", sending: .notSent, underlying: error)
        } catch {
            let message =
                (error as? LookupError)?.message ?? "The host can't be looked up: \(error.redactedDescription)."
            throw NetworkError(.noNetwork, in: step, message, sending: .notSent, underlying: error)
        }
        var failure = NetworkError(.noNetwork, in: step, "The host has no address.", sending: .notSent)
        for address in addresses {
            do throws(NetworkError) {
                return try await next.send(request.addressed(to: address, port: origin.port), in: flight)
            } catch {
                guard error.kind == .noNetwork, error.sending == .notSent else { throw error }
                failure = error
            }
        }
        throw failure
    }
}

extension Request {
    /// Returns a copy of the request that has `address` as its target, and the host's name in `Host`.
    fileprivate func addressed(to address: IPAddress, port: Int) -> Request {
        var request = self
        if let name = HTTPField.Name("Host") { request.head.headerFields[name] = head.authority }
        request.head.authority = address.family == .v6 ? "[\(address)]:\(port)" : "\(address):\(port)"
        return request
    }
}
