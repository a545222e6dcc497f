import RunwayTesting
import Testing

@testable import RunwayTransport

struct UTF8ValidationTests {
    /// What the standard library says of the same bytes.
    private static func isValid(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

    @Test func agreesWithStandardLibraryOnAllShortSequences() {
        let interesting: [UInt8] = [
            0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE,
            0xEF,
            0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
        ]
        for first in interesting {
            for second in interesting {
                for third in interesting {
                    for fourth in interesting {
                        let bytes = [first, second, third, fourth]
                        var validation = UTF8Validation()
                        let isValid = validation.accept(bytes) && validation.isComplete
                        #expect(isValid == Self.isValid(bytes), "\(bytes)")
                    }
                }
            }
        }
    }

    @Test func cutsBetweenBytesDoNotMatter() {
        let text = Array("κόσμε €𝄞🇩🇪 \u{10FFFF}\u{D7FF}\u{E000}".utf8)
        for cut in 0...text.count {
            var validation = UTF8Validation()
            let isValid = validation.accept(text[..<cut]) && validation.accept(text[cut...])
            #expect(isValid && validation.isComplete)
        }
    }

    @Test(
        arguments: [
            // Overlong, a surrogate, beyond U+10FFFF: the second byte is the first that is wrong (RFC 3629 §4).
            [0xE0, 0x80], [0xF0, 0x8F], [0xED, 0xA0], [0xF4, 0x90],
        ] as [[UInt8]])
    func refusesAtFirstWrongByte(_ bytes: [UInt8]) {
        var validation = UTF8Validation()
        let isFirstAccepted = validation.accept(bytes.prefix(1))
        let isSecondAccepted = validation.accept(bytes.dropFirst())
        #expect(isFirstAccepted && !isSecondAccepted)
    }
}
