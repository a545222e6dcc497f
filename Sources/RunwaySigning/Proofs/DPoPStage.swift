import Foundation
import HTTPTypes
public import Runway
import RunwayJSON
import RunwaySignatures
import Synchronization

/// Proves to an OAuth server that the requests of one service come from the device that has the key (DPoP, RFC 9449).
///
/// ```swift
/// pipeline.insert(DPoPStage(for: Login.self, keys: keys), before: .signing)
/// ```
///
/// The key is a `RequestKey` that was created from a ``DeviceKey``, such as ``DeviceKeys`` returns. Requests pass
/// unchanged if the store has no key for them, or if they go to an origin other than the service's.
///
/// A request with the header field `Authorization: DPoP …` gets a proof for its access token. An app's
/// `Credentials.authorize` sets this field. Any other request gets a proof without a token, as a token request
/// requires. Each attempt has a proof of its own.
///
/// If a response has the field `DPoP-Nonce`, the next proofs contain its nonce. A request that was refused because it
/// had no nonce is sent once more, if its body can be sent again.
///
/// A proof has the time of the device's clock, even if a ``SigningStage`` has corrected its own time. If the server
/// refuses a proof because of its time, the request fails. A server whose clients' clocks may be wrong can judge the
/// time of its nonce instead (RFC 9449 §11.1).
public struct DPoPStage: RequestStage {
    private let service: any APIService.Type
    private let keys: any RequestKeyStore
    private let nonces = DPoPNonces()

    /// Creates a stage for the requests of one service.
    ///
    /// - Parameters:
    ///   - service: The service. Requests of other services pass unchanged.
    ///   - keys: Finds the key of an account.
    public init(for service: any APIService.Type, keys: any RequestKeyStore) {
        (self.service, self.keys) = (service, keys)
    }

    /// The position of the stage: `signing`.
    public var step: FlightStep { .signing }
    /// `true`: the key store and the signer are abandoned at the deadline of the call and when the call is cancelled.
    public var endsInTime: Bool { true }

    /// Adds a proof to the request and sends it. Sends it again if the server asks for a nonce.
    public func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        guard flight.service == service, request.isForServer(of: flight) else {
            return try await next.send(request, in: flight)
        }
        let used = nonces.current(for: flight.environment)
        let response = try await next.send(try await proved(request, used, in: flight), in: flight)
        let nonce = response.dpopNonce
        if let nonce { nonces.adopt(nonce, for: flight.environment) }
        guard let nonce, nonce != used, response.wantsNonce, request.body.isReplayable else { return response }
        flight.note(SigningDecision.meetsRequest)
        let second: Response
        do throws(NetworkError) {
            second = try await next.send(try await proved(request, nonce, in: flight), in: flight)
        } catch {
            // The error must state that the request was sent, since the server received and refused it.
            var error = error
            error.sending = .sent
            throw error
        }
        if let nonce = second.dpopNonce { nonces.adopt(nonce, for: flight.environment) }
        return second
    }

    private func proved(
        _ request: Request, _ nonce: String?, in flight: Flight
    ) async throws(NetworkError) -> Request {
        let owner = KeyOwner(service: flight.service.name, environment: flight.environment, account: flight.account)
        let (keys, now) = (keys, UnixTime(seconds: Int64(flight.clock.date.timeIntervalSince1970)))
        let token = request.head.headerFields[.authorization].flatMap(Self.token)
        let proof = try await flight.runInTime(.notSent) {
            () async throws(NetworkError) -> (text: String, keyID: String)? in
            do {
                guard let key = try await keys.key(for: owner), let point = key.publicKey else { return nil }
                let claims = try DPoPClaims(request.head, token: token, nonce: nonce, at: now)
                return (try await claims.proof(by: key.signer, publicKey: point), key.id)
            } catch {
                throw NetworkError(signing: error)
            }
        }
        guard let proof else {
            flight.note(SigningDecision.unsigned)
            return request
        }
        flight.note(SigningDecision.proved(keyID: proof.keyID))
        var request = request
        request.head.headerFields[.dpop] = proof.text
        return request
    }

    /// Returns the access token of the scheme `DPoP`, whose name is case-insensitive (RFC 9110 §11.1).
    private static func token(_ authorization: String) -> String? {
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "dpop" else { return nil }
        return parts[1].trimmingCharacters(in: .whitespaces)
    }
}

/// The latest nonce of the server in each environment.
private final class DPoPNonces: Sendable {
    /// Guards the nonces. They need no limit, since an app has few environments.
    private let nonces = Mutex<[ServiceEnvironment: String]>([:])

    func current(for environment: ServiceEnvironment) -> String? { nonces.withLock { $0[environment] } }

    func adopt(_ nonce: String, for environment: ServiceEnvironment) { nonces.withLock { $0[environment] = nonce } }
}

extension Response {
    /// The nonce for the next proof. It must have the characters of RFC 9449 §8.1, and fit in a field.
    fileprivate var dpopNonce: String? {
        let values = head.headerFields[values: .dpopNonce]
        guard let nonce = values.first, values.count == 1, (1...1_024).contains(nonce.utf8.count),
            nonce.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
            )
        else { return nil }
        return nonce
    }

    /// Whether the request was refused because of a missing nonce. An authorization server reports this in its JSON
    /// (RFC 9449 §8), a resource server in its challenge (RFC 9449 §9).
    fileprivate var wantsNonce: Bool {
        switch head.status {
        case .unauthorized:
            return head.headerFields[values: .wwwAuthenticate].contains { $0.contains("use_dpop_nonce") }
        case .badRequest:
            guard case .whole(let rawData) = body else { return false }
            return rawData["error"].string == "use_dpop_nonce"
        default: return false
        }
    }
}
