package import Crypto
import Foundation

/// A public key of P-256 as a JSON Web Key (RFC 7517, RFC 7518 §6.2).
package struct PublicKeyJWK: Sendable, Hashable, Codable {
    /// The curve.
    package var crv = "P-256"
    /// The type.
    package var kty = "EC"
    /// The coordinates, as Base64 for URLs.
    package var x: String
    package var y: String

    /// The key of an uncompressed point: 65 bytes.
    package init(point: some Collection<UInt8>) {
        x = Base64.encodedForURL(point.dropFirst().prefix(32))
        y = Base64.encodedForURL(point.dropFirst(33))
    }

    /// The key; `nil` if this is not one of P-256. It must be a point of the curve, and have coordinates of 32 bytes
    /// each.
    package var key: P256.Signing.PublicKey? {
        guard crv == "P-256", kty == "EC", let x = Base64.decodedForURL(x), let y = Base64.decodedForURL(y),
            x.count == 32, y.count == 32
        else { return nil }
        return try? P256.Signing.PublicKey(x963Representation: [4] + x + y)
    }

    /// The canonical JSON: the required members in lexicographic order, without whitespace (RFC 7638 §3.2).
    package var canonicalJSON: String { #"{"crv":"\#(crv)","kty":"\#(kty)","x":"\#(x)","y":"\#(y)"}"# }

    /// The thumbprint by SHA-256, as Base64 for URLs (RFC 7638).
    package var thumbprint: String { Base64.encodedForURL(SHA256.hash(data: Array(canonicalJSON.utf8))) }
}
