import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A table of the system that maps the bytes of one character to Unicode. It uses Foundation on Apple's systems and
/// iconv elsewhere.
final class SystemTable {
    /// The names that the systems use for a table.
    struct Name: Hashable, Sendable {
        let iconv: String
        /// The number of the encoding among CoreFoundation's external encodings.
        let coreFoundation: UInt

        init(_ iconv: String, _ coreFoundation: UInt) { (self.iconv, self.coreFoundation) = (iconv, coreFoundation) }
    }

    #if canImport(Darwin)
        private let encoding: String.Encoding

        /// Opens a table. Returns `nil` if the system has no such table.
        init?(_ name: Name) {
            encoding = String.Encoding(rawValue: 0x8000_0000 | name.coreFoundation)
            if String(data: Data([0x41]), encoding: encoding) != "A" { return nil }
        }

        /// Returns the text of one character, or `nil` if the table does not contain the character.
        func text(of character: ArraySlice<UInt8>) -> String? { String(data: Data(character), encoding: encoding) }
    #else
        private let descriptor: iconv_t

        /// Opens a table. Returns `nil` if the system has no such table.
        init?(_ name: Name) {
            guard let descriptor = iconv_open("UTF-8", name.iconv), Int(bitPattern: descriptor) != -1 else {
                return nil
            }
            self.descriptor = descriptor
        }

        deinit { iconv_close(descriptor) }

        /// Returns the text of one character, or `nil` if the table does not contain the character.
        func text(of character: ArraySlice<UInt8>) -> String? {
            var input = character.map { CChar(bitPattern: $0) }
            return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { output -> String? in
                var (text, room) = (output.baseAddress, output.count)
                let isRead = input.withUnsafeMutableBufferPointer { input in
                    var (bytes, count) = (input.baseAddress, input.count)
                    _ = iconv(descriptor, nil, nil, nil, nil)
                    // iconv holds back a character that could combine with the next one. The second call writes it.
                    return iconv(descriptor, &bytes, &count, &text, &room) == 0 && count == 0
                        && iconv(descriptor, nil, nil, &text, &room) == 0
                }
                guard isRead else { return nil }
                return String(
                    validating: output.prefix(output.count - room).lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            }
        }
    #endif
}
