package import Runway

/// A decision of the signing stage, for the record of a call. It contains the identifier of the key, and never the key.
package enum SigningDecision: StageDecision, Equatable {
    /// The request was signed.
    case signed(keyID: String, way: String)
    /// A DPoP proof was added to the request.
    case proved(keyID: String)
    /// The key store has no key for the request, so the request was sent unsigned.
    case unsigned
    /// The server refused the time of the signature. The request is signed again with the server's time.
    case correctedTime(by: Duration)
    /// The request is signed again with the nonce and the components that the server requested.
    case meetsRequest
    /// The nonce was used, or unknown to the server. The request is signed again with another nonce.
    case repeated
    /// The server refused the signature and disclosed its signature base. The text has the differences from the signed
    /// base, without secrets.
    case compared(String)
    /// The response has a valid signature of the server.
    case verifiedResponse

    package static var step: FlightStep { .signing }

    static func signed(keyID: String, _ way: SigningWay) -> SigningDecision { .signed(keyID: keyID, way: way.name) }

    package var entry: DecisionRecord {
        switch self {
        case .signed(let keyID, let way): .init("signed", ["key": keyID, "way": way], "\(way) by the key \(keyID)")
        case .proved(let keyID): .init("proved", ["key": keyID], "proof of possession by the key \(keyID)")
        case .unsigned: .init("unsigned", "not signed, as there is no key")
        case .correctedTime(let difference):
            .init(
                "correctedTime", ["difference": difference],
                "the clock differs by \(difference.components.seconds) s from that of the server; signed again")
        case .meetsRequest: .init("meetsRequest", "signed again as the server asked")
        case .repeated: .init("repeated", "signed again with a new nonce")
        case .compared(let difference): .init("compared", difference)
        case .verifiedResponse: .init("verifiedResponse", "the response has the server's signature")
        }
    }
}
