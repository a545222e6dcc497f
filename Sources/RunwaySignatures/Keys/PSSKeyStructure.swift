import Crypto
import SwiftASN1

/// A key whose structure marks it as a key for RSASSA-PSS (RFC 4055 §1.2). Examples are the key of RFC 9421 appendix
/// B.1.2 and the keys of `openssl genpkey -algorithm RSA-PSS`. BoringSSL reads only keys marked as RSA keys.
struct PSSKeyStructure {
    /// The contained RSA key (RFC 8017 appendix A.1) in DER.
    let key: [UInt8]

    /// Reads the structure of a private key (PKCS #8, RFC 5958 §2) or a public key (RFC 5280 §4.1). Returns `nil` if
    /// the text is a key of another type.
    ///
    /// - Throws: A ``SignatureError`` if the key's parameters do not permit signatures with `rsa-pss-sha512`.
    init?(pem text: String) throws(SignatureError) {
        guard let document = try? PEMDocument(pemString: text),
            let node = try? DER.parse(document.derBytes), let structure = try? Structure(derEncoded: node),
            structure.algorithm == Self.rsassaPSS
        else { return nil }
        guard structure.parameters.map(Self.allowSHA512) ?? true else {
            throw SignatureError(.invalidKey, "the parameters of the RSASSA-PSS key")
        }
        key = Array(structure.key)
    }

    private static let rsassaPSS: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 10]
    private static let mgf1: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 8]
    private static let sha512: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 2, 3]

    /// Returns whether parameters permit SHA-512 with a salt of 64 bytes, as RFC 9421 §3.3.1 requires. The salt length
    /// in a key's parameters is a minimum (RFC 4055 §3.3); an absent hash means SHA-1.
    private static func allowSHA512(_ parameters: ASN1Node) -> Bool {
        let isAllowed = try? DER.sequence(parameters, identifier: .sequence) { nodes in
            let hash = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                try algorithm($0).identifier
            }
            let mask = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 1, tagClass: .contextSpecific) { node in
                let function = try algorithm(node)
                return function.identifier == mgf1 ? try function.parameters.map { try algorithm($0).identifier } : nil
            }
            let salt = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 2, tagClass: .contextSpecific) {
                try Int(derEncoded: $0)
            }
            while nodes.next() != nil {}
            return hash == sha512 && mask == sha512 && (salt ?? 20) <= 64
        }
        return isAllowed ?? false
    }

    /// Reads an algorithm identifier and its parameters.
    private static func algorithm(_ node: ASN1Node) throws -> (identifier: ASN1ObjectIdentifier, parameters: ASN1Node?)
    {
        try DER.sequence(node, identifier: .sequence) { (try ASN1ObjectIdentifier(derEncoded: &$0), $0.next()) }
    }

    private struct Structure: DERParseable {
        let algorithm: ASN1ObjectIdentifier
        let parameters: ASN1Node?
        let key: ArraySlice<UInt8>

        init(derEncoded node: ASN1Node) throws {
            (algorithm, parameters, key) = try DER.sequence(node, identifier: .sequence) { nodes in
                var first = nodes.next()
                let isPrivate = first?.identifier == .integer
                if isPrivate { first = nodes.next() }
                guard let first else { throw SignatureError(.invalidKey, "the structure of the key") }
                let (algorithm, parameters) = try PSSKeyStructure.algorithm(first)
                let key =
                    isPrivate
                    ? try ASN1OctetString(derEncoded: &nodes).bytes : try ASN1BitString(derEncoded: &nodes).bytes
                // Attributes and a public key may follow a private key.
                while nodes.next() != nil {}
                return (algorithm, parameters, key)
            }
        }
    }
}
