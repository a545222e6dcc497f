import Foundation
import HTTPTypes
import RunwayTesting
import Testing

@testable import RunwaySignatures

/// Random changes of signed messages. What an independent oracle finds to be changed is never accepted, and what it finds to be the same
/// is.
struct MutationTests {
    /// How many changed messages are refused, for all seeds: 4,000. `Scripts/mutations.sh` refuses 100,000 or more.
    private static let count = {
        let text = ProcessInfo.processInfo.environment["RUNWAY_MUTATIONS"]
        return (text.flatMap { Int($0) } ?? 4_000) / 4
    }()

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func changedMessagesAreNeverAccepted(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let signers = try KeyTests.all().map(MutationSigner.init)
        var (number, refused, accepted) = (0, 0, 0)
        var sample = MutationSample(&random)
        var signer = signers[0]
        var fields = try signer.sign(sample)
        var base = sample.oracle.base(of: sample.components)
        while refused < Self.count {
            if number.isMultiple(of: 20) {
                sample = MutationSample(&random)
                signer = signers[number / 20 % signers.count]
                fields = try signer.sign(sample)
                base = sample.oracle.base(of: sample.components)
                try #require(base != nil, "\(sample)")
                // The oracle and the code under test agree on what is signed.
                #expect(try signer.base(of: sample) == base, "seed \(seed), number \(number)")
            }
            number += 1
            var changed = sample
            for _ in 0...Int.random(in: 0..<2, using: &random) { changed.mutate(&random) }
            let isSame = changed.oracle.base(of: sample.components) == base && changed.body == sample.body
            let isAccepted = signer.accepts(changed, with: fields)
            #expect(isAccepted == isSame, "seed \(seed), number \(number): \(sample) became \(changed)")
            if isAccepted { accepted += 1 } else { refused += 1 }
            // The generator makes changes of both kinds.
            try #require(number < 1_000 || accepted < number * 9 / 10)
        }
        #expect(accepted > refused / 20)
        print(
            "seed \(seed): \(number) mutations by \(signers.count) algorithms, \(refused) of them changed and refused")
    }

    @Test(arguments: [11, 12] as [UInt64])
    func changedSignatureFieldsAreNeverAccepted(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let signers = try KeyTests.all().map(MutationSigner.init)
        var (number, refused, same) = (0, 0, 0)
        while refused < Self.count / 2 {
            let signer = signers[number / 50 % signers.count]
            let sample = MutationSample(&random)
            let fields = try signer.sign(sample)
            let input = try #require(fields[.signatureInput])
            let value = try #require(fields[.signature])
            let oracle = try #require(ParameterOracle(input: input, signature: value))
            for _ in 0..<50 {
                number += 1
                var changed = fields
                let name: HTTPField.Name = Bool.random(using: &random) ? .signatureInput : .signature
                changed[name] = edited(try #require(changed[name]), &random)
                let other = ParameterOracle(input: changed[.signatureInput] ?? "", signature: changed[.signature] ?? "")
                guard signer.accepts(sample, with: changed) else {
                    refused += 1
                    continue
                }
                // Only what leaves parameters and value as they are, such as spaces or another label, is accepted.
                let isSame = other?.parameters == oracle.parameters && other?.signature == oracle.signature
                #expect(isSame, "seed \(seed), number \(number): \(changed[name] ?? "")")
                same += 1
            }
        }
        // Most edits change something.
        #expect(same < refused / 3)
        print("seed \(seed): \(number) mutations of fields, \(refused) refused")
    }

    /// One byte is removed, inserted, changed or swapped, or a parameter is.
    private func edited(_ text: String, _ random: inout SeededGenerator) -> String {
        var bytes = Array(text.utf8)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes.remove(at: Int.random(in: 0..<bytes.count, using: &random))
        case 1:
            bytes.insert(
                UInt8.random(in: 0x20...0x7E, using: &random), at: Int.random(in: 0...bytes.count, using: &random))
        case 2:
            bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<7, using: &random)
        case 3:
            bytes.swapAt(
                Int.random(in: 0..<bytes.count, using: &random), Int.random(in: 0..<bytes.count, using: &random))
        case 4:
            // Parameters of the signature in another order, or one twice.
            var parts = text.components(separatedBy: ";")
            let (first, second) = (
                Int.random(in: 0..<parts.count, using: &random), Int.random(in: 0..<parts.count, using: &random)
            )
            if Bool.random(using: &random) {
                parts.swapAt(first, second)
            } else {
                parts.insert(parts[first], at: second)
            }
            return parts.joined(separator: ";")
        default:
            // Components in another order, or one left out.
            var parts = text.components(separatedBy: " ")
            let place = Int.random(in: 0..<parts.count, using: &random)
            if Bool.random(using: &random) { parts.swapAt(0, place) } else { parts.remove(at: place) }
            return parts.joined(separator: " ")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Signs samples by one key and verifies them, without nonces.
private struct MutationSigner {
    let key: SigningKey

    init(_ key: SigningKey) { self.key = key }

    private func parameters(_ sample: MutationSample) throws -> SignatureParameters {
        guard let covered = CoveredComponents(texts: sample.components) else {
            throw SignatureError(.unknownComponent, "a component of the sample")
        }
        return try SignatureParameters(
            components: covered, created: Exchange.now, expires: Exchange.now + .seconds(60), nonce: "n \\ \" (",
            algorithm: key.algorithm, keyID: "k-1", tag: "app")
    }

    /// The signature base without its last line.
    func base(of sample: MutationSample) throws -> String {
        let base = try sample.context().signatureBase(for: parameters(sample))
        return String(decoding: base, as: UTF8.self).split(separator: "\n").dropLast().joined(separator: "\n")
    }

    func sign(_ sample: MutationSample) throws -> HTTPFields {
        let parameters = try parameters(sample)
        let base = try sample.context().signatureBase(for: parameters)
        var fields = HTTPFields()
        fields.append(try LabelledSignature(label: "sig1", parameters: parameters, signature: key.signature(of: base)))
        return fields
    }

    func accepts(_ sample: MutationSample, with fields: HTTPFields) -> Bool {
        var policy = VerificationPolicy(tag: "app")
        if sample.response != nil {
            policy.requiredComponents = VerificationPolicy.response(tag: "", nonce: "").requiredComponents
        }
        policy.nonces = .unchecked
        do {
            let examination = try SignatureExamination(
                sample.context(with: fields), hasBody: true, policy: policy, at: Exchange.now)
            let record = KeyRecord(id: "k-1", key: key.verificationKey, owner: "anna")
            try examination.verify(with: record, isKnown: true).verifyBody(sample.body, at: Exchange.now)
            return true
        } catch {
            return false
        }
    }
}
