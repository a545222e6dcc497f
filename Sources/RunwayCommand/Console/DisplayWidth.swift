extension StringProtocol {
    /// The number of terminal columns that the text occupies. A wide character of East Asian scripts or an emoji counts
    /// as two (Unicode Standard Annex 11), a combining mark as zero, and any other character as one.
    var displayWidth: Int { reduce(0) { $0 + $1.displayWidth } }

    /// Returns the text in exactly `columns` columns: truncated with an ellipsis, or padded with spaces.
    func padded(to columns: Int) -> String {
        let text = fitted(to: columns)
        return text + String(repeating: " ", count: columns - text.displayWidth)
    }

    /// Returns the text in at most `columns` columns. A truncated text ends with an ellipsis.
    func fitted(to columns: Int) -> String {
        if displayWidth <= columns { return String(self) }
        var width = 0
        let shown = prefix { character in
            width += character.displayWidth
            return width < columns
        }
        return columns > 0 ? shown + "…" : ""
    }
}

extension Character {
    fileprivate var displayWidth: Int {
        // All scalars of a character are drawn at one position, so the first scalar determines the width. The emoji
        // variant of a character is wide.
        guard let first = unicodeScalars.first else { return 0 }
        if unicodeScalars.dropFirst().contains("\u{FE0F}") { return 2 }
        return first.displayWidth
    }
}

extension Unicode.Scalar {
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1B000...0x1B2FF,
        0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]

    fileprivate var displayWidth: Int {
        if value < 0x300 { return 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return Self.wide.contains { $0.contains(value) } ? 2 : 1
        }
    }
}
