import Crypto
import Foundation
import Testing

@testable import RunwaySignatures

/// Keys whose structure says id-RSASSA-PSS (RFC 4055).
struct PSSKeyTests {
    private let sha512: [UInt8] = [0x30, 0x0B, 0x06, 0x09, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 3]
    private let sha256: [UInt8] = [0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1, 5, 0]
    private let mgf1: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 8]

    private func element(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
        let content = parts.flatMap(\.self)
        return [tag, UInt8(content.count)] + content
    }

    /// The parameters of a key; SHA-512 and a salt of 64 bytes by default.
    private func parameters(hash: [UInt8]?, mask: [UInt8]?, salt: UInt8?) -> [UInt8] {
        let members = [
            hash.map { element(0xA0, $0) }, mask.map { element(0xA1, element(0x30, mgf1, $0)) },
            salt.map { element(0xA2, [2, 1, $0]) },
        ]
        return element(0x30, members.compactMap(\.self).flatMap(\.self))
    }

    /// A private or a public key in PEM, whose RSA key is the bytes 1, 2, 3.
    private func structure(_ parameters: [UInt8]?, isPrivate: Bool = true) -> String {
        let identifier: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 10]
        let algorithm = element(0x30, identifier, parameters ?? [])
        let body =
            isPrivate
            ? element(0x30, [2, 1, 0], algorithm, element(4, [1, 2, 3]))
            : element(0x30, algorithm, element(3, [0, 1, 2, 3]))
        let text = Data(body).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        let label = isPrivate ? "PRIVATE KEY" : "PUBLIC KEY"
        return "-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n"
    }

    @Test func keyOfTheStandardSignsAndVerifies() throws {
        let key = try SigningKey(.rsaPSSSHA512, text: ExampleKeys.rsaPSS)
        let signature = try key.signature(of: Array("base".utf8))
        let verifier = try ExampleKeys.verification("test-key-rsa-pss")
        #expect(verifier.isValid(signature, of: Array("base".utf8)))
        // It is written as a key that every program reads.
        #expect(try SigningKey(.rsaPSSSHA512, text: key.text).text == key.text)
    }

    @Test func keyForPSSMakesNoOtherSignatures() throws {
        #expect(throws: SignatureError(.invalidKey, "a key for RSASSA-PSS")) {
            try SigningKey(.rsaPKCS1SHA256, text: ExampleKeys.rsaPSS)
        }
        #expect(throws: SignatureError(.invalidKey, "a key for RSASSA-PSS")) {
            try VerificationKey(.rsaPKCS1SHA256, text: structure(nil, isPrivate: false))
        }
    }

    @Test(arguments: [true, false])
    func parametersRestrictTheKey(isPrivate: Bool) throws {
        for parameters in [
            nil, parameters(hash: sha512, mask: sha512, salt: 64), parameters(hash: sha512, mask: sha512, salt: nil),
        ] {
            #expect(try PSSKeyStructure(pem: structure(parameters, isPrivate: isPrivate))?.key == [1, 2, 3])
        }
        for parameters in [
            parameters(hash: sha256, mask: sha256, salt: 32), parameters(hash: sha512, mask: sha256, salt: 64),
            parameters(hash: nil, mask: nil, salt: nil), parameters(hash: sha512, mask: nil, salt: 64),
            parameters(hash: sha512, mask: sha512, salt: 65), [5, 0],
        ] {
            #expect(throws: SignatureError(.invalidKey, "the parameters of the RSASSA-PSS key")) {
                try PSSKeyStructure(pem: structure(parameters, isPrivate: isPrivate))
            }
        }
    }

    @Test func otherTextsAreNoKeyForPSS() throws {
        let others = try KeyTests.all().filter { !$0.algorithm.isSymmetric }.flatMap {
            [$0.text, $0.verificationKey.text]
        }
        for text in others + ["", "AAAA", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"] {
            #expect(try PSSKeyStructure(pem: text) == nil, "\(text.prefix(40))")
        }
    }
}
