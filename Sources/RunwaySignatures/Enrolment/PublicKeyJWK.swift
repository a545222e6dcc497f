package import Crypto
import Foundation

/// A P-256 public key as a JSON Web Key (RFC 7517, RFC 7518 §6.2).
package struct PublicKeyJWK: Sendable, Hashable, Codable {
    package var crv = "P-256"
    package var kty = "EC"
    /// The coordinates of the point in base64url.
    package var x: String
    package var y: String

    /// - Parameter point: An uncompressed point of 65 bytes.
    package init(point: some Collection<UInt8>) {
        x = Base64.encodedForURL(point.dropFirst().prefix(32))
        y = Base64.encodedForURL(point.dropFirst(33))
    }

    /// The key; `nil` if the values are not a point of P-256 with coordinates of 32 bytes each.
    package var key: P256.Signing.PublicKey? {
        guard crv == "P-256", kty == "EC", let x = Base64.decodedForURL(x), let y = Base64.decodedForURL(y),
            x.count == 32, y.count == 32
        else { return nil }
        return try? P256.Signing.PublicKey(x963Representation: [4] + x + y)
    }

    /// The canonical JSON: the required members in lexicographic order, without whitespace (RFC 7638 §3.2).
    package var canonicalJSON: String { #"{"crv":"\#(crv)","kty":"\#(kty)","x":"\#(x)","y":"\#(y)"}"# }

    /// The SHA-256 thumbprint in base64url (RFC 7638).
    package var thumbprint: String { Base64.encodedForURL(SHA256.hash(data: Array(canonicalJSON.utf8))) }
}
