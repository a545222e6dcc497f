// libFuzzer's target for what a signed message states of itself.

import Crypto
import Foundation
import HTTPTypes

@testable import RunwaySignatures

/// Reads bytes as what `RUNWAY_FUZZ` names; whatever does not hold ends the process.
@_cdecl("LLVMFuzzerTestOneInput")
public func takeInput(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    target(Array(UnsafeBufferPointer(start: data, count: size)))
    return 0
}

private let target: @Sendable ([UInt8]) -> Void =
    switch ProcessInfo.processInfo.environment["RUNWAY_FUZZ"] ?? "" {
    case "message": { SignatureFuzz.readMessage($0) }
    case "fields": { SignatureFuzz.readFields($0) }
    case "enrolment": { EnrolmentFuzz.read($0) }
    case "keys": { EnrolmentFuzz.readKeys($0) }
    case "words": { EnrolmentFuzz.readWords($0) }
    case let name: preconditionFailure("RUNWAY_FUZZ names no target: \(name)")
    }

enum SignatureFuzz {
    private static let key = VerificationKey.p256(P256.Signing.PrivateKey().publicKey)
    private static let secret = SymmetricKey(data: Array("a secret of the fuzzer".utf8))
    private static let now = UnixTime(seconds: 1_790_000_000)

    /// A message as a file has it, with all that its fields can state.
    static func readMessage(_ bytes: [UInt8]) {
        guard let message = try? MessageText(bytes), case .request(let method, let target) = message.start else {
            return
        }
        read(
            HTTPRequest(
                method: method, scheme: "https", authority: "api.example.com", path: target,
                headerFields: message.headerFields), body: message.body)
    }

    /// One value in each of the fields.
    static func readFields(_ bytes: [UInt8]) {
        var request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/")
        let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        let names: [HTTPField.Name] = [
            .signatureInput, .acceptSignature, .contentDigest, .wantContentDigest, .runwayDigest, .runwaySealedKey,
            .dpop,
        ]
        for name in names {
            request.headerFields.append(HTTPField(name: name, lenientValue: Array(parts.first ?? [])))
        }
        request.headerFields.append(HTTPField(name: .signature, lenientValue: Array(parts.last ?? [])))
        read(request, body: [])
    }

    private static func read(_ request: HTTPRequest, body: [UInt8]) {
        let fields = request.headerFields
        // The request, and a response to it with the same fields. Both have them as trailers, too.
        let trailed = SignatureContext(request, trailerFields: fields)
        var response = SignatureContext(
            HTTPResponse(status: .ok, headerFields: fields), to: request, trailerFields: fields)
        response.requestTrailerFields = fields
        for signature in (try? fields.signatures()) ?? [] {
            // What was read is written and read again as the same.
            var copy = HTTPFields()
            copy.append(signature)
            let again = try? copy.signatures()
            require(again?.map(\.parameters) == [signature.parameters], "a signature changes when it is written")
            require(again?.map(\.signature) == [signature.signature], "a signature changes when it is written")
            for context in [trailed, response] {
                let base = try? context.signatureBase(for: signature.parameters)
                require(base == nil || base == context.availableBase(for: signature.parameters), "a line is left out")
            }
        }
        for wanted in (try? fields.signatureRequests()) ?? [] {
            var copy = HTTPFields()
            guard (try? copy.append(wanted)) != nil else { continue }
            require((try? copy.signatureRequests()) != nil, "a request for a signature can't be read again")
        }
        let record = KeyRecord(id: "k", key: key, owner: "nobody")
        for (context, policy) in [
            (trailed, VerificationPolicy(tag: "app")), (response, VerificationPolicy.response(tag: "app", nonce: "n")),
        ] {
            let examination = try? SignatureExamination(context, hasBody: !body.isEmpty, policy: policy, at: now)
            require((try? examination?.verify(with: record, isKnown: true)) == nil, "a signature is accepted")
        }
        _ = try? BodyDigest(.contentDigest, in: fields)
        _ = try? fields.wantedDigests(.wantContentDigest)
        _ = try? SealedKey(fields)
        if let digest = try? SaltedDigest(fields), let lines = try? digest.canonicalRequest(of: request, body: body),
            let key = try? VerificationKey.salted(secret)
        {
            require(!digest.isValid(of: lines, by: key), "a digest is accepted")
        }
        _ = try? DPoPProof(of: request, at: now)
    }

    private static func require(_ condition: Bool, _ problem: String) { precondition(condition, problem) }
}
