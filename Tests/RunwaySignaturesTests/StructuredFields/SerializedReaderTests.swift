import HTTPTypes
import RunwayTesting
import Testing

@testable import RunwaySignatures

/// What `SerializedReader` reads of a field, the parser of all structured fields reads alike.
struct SerializedReaderTests {
    private static let inputs = [
        #"sig1=("@method" "@path" "content-digest");created=1790000000;nonce="n-1";keyid="k";tag="app""#,
        #"a=();expires=0;alg="hmac-sha256""#, #"*a-b.c_9=("x")"#,
        #"sig1=("@authority" "@query";req);created=7;keyid="k";foo=1"#,
    ]
    private static let pieces = [
        "\"", "\\", ";", "=", " ", "(", ")", ",", "0", "-", "1", ".", "a", "A", "*", ":", "é", "\t", #";tag="app""#,
        ";created=1", ";expires=01", #" "@method""#, ";nonce", "?1", "@", "%", "123456789012345", #";nonce="""#,
    ]

    /// A value after some random edits.
    private static func changed(_ value: String, by random: inout SeededGenerator) -> String {
        var characters = Array(value)
        for _ in 0...Int.random(in: 0..<3, using: &random) {
            let position = Int.random(in: 0...characters.count, using: &random)
            let end = min(characters.count, position + Int.random(in: 0..<3, using: &random))
            let piece = Int.random(in: 0..<3, using: &random) == 0 ? "" : pieces.randomElement(using: &random) ?? ""
            characters.replaceSubrange(position..<end, with: piece)
        }
        return String(characters)
    }

    /// The field with a space before its value, which only the parser reads.
    private static func spaced(_ name: HTTPField.Name, _ value: String) -> HTTPField {
        HTTPField(name: name, lenientValue: Array(" \(value)".utf8))
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func inputsAreReadAsTheParserReadsThem(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var read = 0
        for number in 0..<2_000 {
            let input = Self.inputs[number % Self.inputs.count]
            let value = number < 3 ? input : Self.changed(input, by: &random)
            let found = SerializedReader.read([value], upTo: 8_192) { reader in
                reader.key() != nil && reader.skip("=")
                    ? SignatureParameters(&reader, within: SignatureLimits()) : nil
            }
            guard let found else { continue }
            read += 1
            let label = String(value.prefix { $0 != "=" })
            let field = Self.spaced(.signatureInput, value)
            let fields = HTTPFields([field, HTTPField(name: .signature, value: "\(label)=:AA==:")])
            let parsed = try fields.signatures()
            #expect(parsed.map(\.parameters) == [found], "seed \(seed): \(value)")
            #expect(found.serialized == value.dropFirst(label.count + 1), "seed \(seed): \(value)")
        }
        #expect(read > 100)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func digestsAreReadAsTheParserReadsThem(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let value = BodyDigest(of: [1, 2, 3]).fieldValue
        var read = 0
        for _ in 0..<2_000 {
            let changed = Self.changed(value, by: &random)
            guard let member = SerializedReader.byteSequenceMember(of: [changed], upTo: 8_192) else { continue }
            read += 1
            let fields = HTTPFields([HTTPField(name: .signatureInput, value: "\(member.key)=()")])
            let parsed = try (fields + [Self.spaced(.signature, changed)]).signatures()
            #expect(parsed.map(\.label) == [member.key] && parsed.map(\.signature) == [member.value], "\(changed)")
        }
        #expect(read > 20)
    }

    @Test(arguments: [
        #"a=( "x")"#, #"a=("x"  "y")"#, #"a=("x" )"#, #"a=("x");created=01"#, #"a=("x");created=-1"#,
        #"a=("x"); tag="a""#,
        #"a=("x");nonce="\"""#, #"a=("x");tag="a";tag="b""#, #"a=("x");foo=1"#, #"a=("x";req)"#, #"a=("x" "x")"#,
        #"a=("x"),b=("y")"#, #"A=("x")"#, #"a=("x");created=1234567890123456"#, #"a=("x");created"#, #" a=("x")"#,
    ])
    func otherSpellingsAreLeftToTheParser(_ value: String) {
        let found = SerializedReader.read([value], upTo: 8_192) { reader in
            reader.key() != nil && reader.skip("=") ? SignatureParameters(&reader, within: SignatureLimits()) : nil
        }
        #expect(found == nil)
    }

    @Test func limitsHoldForSerializedFields() {
        var limits = SignatureLimits()
        let fields: HTTPFields = [.signatureInput: #"a=("x" "y");created=1;tag="t""#, .signature: "a=:AA==:"]
        #expect(throws: Never.self) { try fields.signatures(within: limits) }
        limits.maximumComponents = 1
        #expect(throws: SignatureError(.tooLarge, "a")) { try fields.signatures(within: limits) }
        limits = SignatureLimits()
        limits.maximumParameters = 1
        #expect(throws: SignatureError(.tooLarge, "signature-input")) { try fields.signatures(within: limits) }
        limits = SignatureLimits()
        limits.maximumBytes = 10
        #expect(throws: SignatureError(.tooLarge, "signature-input")) { try fields.signatures(within: limits) }
        limits = SignatureLimits()
        limits.maximumSignatures = 0
        #expect(throws: SignatureError(.tooLarge, "signature-input")) { try fields.signatures(within: limits) }
    }
}
