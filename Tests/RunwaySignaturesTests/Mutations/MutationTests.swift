import Foundation
import HTTPTypes
import RunwayTesting
import Testing

@testable import RunwaySignatures

/// Random changes of signed requests. What an independent oracle finds to be changed is never accepted, and what it finds to be the
/// same is.
struct MutationTests {
    /// Mutations of messages per seed: 20,000 in all. `Scripts/mutations.sh` makes 100,000.
    private static let count = {
        let text = ProcessInfo.processInfo.environment["RUNWAY_MUTATIONS"]
        return (text.flatMap { Int($0) } ?? 20_000) / 4
    }()

    private static let components = ["@method", "@authority", "@path", "@query", "content-digest", "x-list", "accept"]
        .map { "\"\($0)\"" }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func changedMessagesAreNeverAccepted(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let signer = try Signer()
        var accepted = 0
        var original = Sample(&random)
        var signature = try signer.sign(original)
        var base = original.oracle.base(of: Self.components)
        for number in 0..<Self.count {
            if number.isMultiple(of: 10) {
                original = Sample(&random)
                signature = try signer.sign(original)
                base = original.oracle.base(of: Self.components)
            }
            var changed = original
            for _ in 0...Int.random(in: 0..<2, using: &random) { changed.mutate(&random) }
            let isSame = changed.oracle.base(of: Self.components) == base
            let isAccepted = signer.accepts(changed, with: signature.fields)
            #expect(isAccepted == isSame, "seed \(seed), number \(number): \(original) became \(changed)")
            if isAccepted { accepted += 1 }
        }
        // The generator makes changes of both kinds.
        #expect(accepted > Self.count / 10 && accepted < Self.count * 9 / 10)
        print("seed \(seed): \(Self.count) mutations, \(Self.count - accepted) of them refused")
    }

    @Test(arguments: [11, 12] as [UInt64])
    func changedSignatureFieldsAreNeverAccepted(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let signer = try Signer()
        var strictlyEqual = 0
        let sample = Sample(&random)
        let (fields, parameters) = try signer.sign(sample)
        for number in 0..<Self.count / 2 {
            var changed = fields
            let name: HTTPField.Name = Bool.random(using: &random) ? .signatureInput : .signature
            var bytes = Array(try #require(changed[name]).utf8)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.remove(at: Int.random(in: 0..<bytes.count, using: &random))
            case 1:
                bytes.insert(
                    UInt8.random(in: 0x20...0x7E, using: &random), at: Int.random(in: 0...bytes.count, using: &random))
            case 2:
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<7, using: &random)
            default:
                bytes.swapAt(
                    Int.random(in: 0..<bytes.count, using: &random), Int.random(in: 0..<bytes.count, using: &random))
            }
            changed[name] = String(decoding: bytes, as: UTF8.self)
            guard signer.accepts(sample, with: changed) else { continue }
            // Only what leaves parameters and value as they are, such as whitespace or another label, is accepted.
            let signature = try #require(changed.signatures().first)
            #expect(signature.parameters.serialized == parameters, "seed \(seed), number \(number)")
            #expect(try fields.signatures().first?.signature == signature.signature, "seed \(seed), number \(number)")
            strictlyEqual += 1
        }
        #expect(strictlyEqual < Self.count / 10)
    }
}

/// Signs samples by HMAC and verifies them, without nonces.
private struct Signer {
    let exchange: Exchange
    let covered: CoveredComponents

    init() throws {
        exchange = try Exchange()
        covered = try CoveredComponents([
            .method, .authority, .path, .query, .contentDigest, ComponentIdentifier(name: "x-list"), .field(.accept),
        ])
    }

    func sign(_ sample: Sample) throws -> (fields: HTTPFields, parameters: String) {
        let parameters = try SignatureParameters(
            components: covered, created: Exchange.now, nonce: "n", keyID: "k-1", tag: "app")
        let base = try SignatureContext(sample.request).signatureBase(for: parameters)
        var fields = HTTPFields()
        fields.append(
            try LabelledSignature(label: "sig1", parameters: parameters, signature: exchange.key.signature(of: base)))
        return (fields, parameters.serialized)
    }

    func accepts(_ sample: Sample, with fields: HTTPFields) -> Bool {
        var policy = exchange.policy
        policy.nonces = .unchecked
        var request = sample.request
        request.headerFields += fields
        let examination = try? SignatureExamination(
            SignatureContext(request), hasBody: true, policy: policy, at: Exchange.now)
        let key = exchange.key.verificationKey
        return (try? examination?.verify(with: KeyRecord(id: "k-1", key: key, owner: "anna"), orElse: DecoyKeys(key)))
            != nil
    }
}

/// A random request as text, which the code under test and the oracle read each in its way.
private struct Sample: CustomStringConvertible {
    var method: String
    var target: String
    var host: String
    var fields: [(name: String, value: String)]

    private static let alphabet = Array("abzAZ09-._~%2F%2f/?&=+;:@!$'()*, \t")

    init(_ random: inout SeededGenerator) {
        method = ["GET", "POST", "PUT", "purge"].randomElement(using: &random) ?? ""
        target = "/" + Self.text(20, &random).filter { $0 != " " && $0 != "\t" }
        host =
            ["api.example.com", "API.example.com:443", "[2001:db8::1]", "a.example:8443"].randomElement(using: &random)
            ?? ""
        fields = [("Content-Digest", BodyDigest(of: Exchange.body).fieldValue)]
        for name in ["X-List", "X-List", "Accept", "X-Other", "x-list"] {
            fields.append((name, Bool.random(using: &random) ? Self.text(8, &random) : ""))
        }
        fields.shuffle(using: &random)
    }

    private static func text(_ maximum: Int, _ random: inout SeededGenerator) -> String {
        let length = Int.random(in: 0...maximum, using: &random)
        return String((0..<length).map { _ in alphabet.randomElement(using: &random) ?? "x" })
    }

    mutating func mutate(_ random: inout SeededGenerator) {
        let index = Int.random(in: 0..<fields.count, using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0: method = Bool.random(using: &random) ? method.lowercased() : "PATCH"
        case 1: host = Bool.random(using: &random) ? host.uppercased() : "b." + host
        case 2: host = host.hasSuffix(":443") ? String(host.dropLast(4)) : host + ":443"
        case 3: target = edited(target, &random).filter { $0 != " " && $0 != "\t" }
        case 4: target += ["?", "&", "?a=1", "/", "%"].randomElement(using: &random) ?? ""
        case 5: fields.swapAt(index, Int.random(in: 0..<fields.count, using: &random))
        case 6: fields[index].value = edited(fields[index].value, &random)
        case 7: fields[index].value = " \t" + fields[index].value + "  "
        case 8: fields.remove(at: index)
        case 9: fields.append((fields[index].name.uppercased(), Self.text(3, &random)))
        case 10: merge(index)
        default: fields.append(("X-New", "1"))
        }
        if !target.hasPrefix("/") { target = "/" + target }
    }

    private func edited(_ text: String, _ random: inout SeededGenerator) -> String {
        var characters = Array(text)
        let place = Int.random(in: 0...characters.count, using: &random)
        if place < characters.count, Bool.random(using: &random) {
            characters[place] = Self.alphabet.randomElement(using: &random) ?? "x"
        } else {
            characters.insert(Self.alphabet.randomElement(using: &random) ?? "x", at: place)
        }
        return String(characters)
    }

    /// Joins a field with the next one of the same name, as a proxy may.
    private mutating func merge(_ index: Int) {
        let name = fields[index].name.lowercased()
        guard let next = fields.indices.first(where: { $0 > index && fields[$0].name.lowercased() == name }) else {
            return
        }
        fields[index].value += ", " + fields[next].value
        fields.remove(at: next)
    }

    var request: HTTPRequest {
        var headerFields = HTTPFields()
        for (name, value) in fields {
            guard let name = HTTPField.Name(name) else { preconditionFailure("The names of the sample are tokens") }
            headerFields.append(HTTPField(name: name, lenientValue: Array(value.utf8)))
        }
        return HTTPRequest(
            method: HTTPRequest.Method(method) ?? .get, scheme: "https", authority: host, path: target,
            headerFields: headerFields)
    }

    var oracle: BaseOracle { BaseOracle(method: method, target: target, host: host, fields: fields) }

    var description: String { "\(method) \(target) \(host) \(fields)" }
}
