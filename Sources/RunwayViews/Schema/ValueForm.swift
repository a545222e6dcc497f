import RunwayJSON

/// The values that an attribute can have.
enum ValueForm: Sendable {
    /// The unit of a number, in the style sheet and in the description.
    enum Unit: String, Sendable {
        case points = "px"
        case degrees = "deg"
        case whole
        case none
    }

    case number(ClosedRange<Double>, Unit)
    /// Points, `"fill"` for all that the parent has, or `"content"` for all that the content needs.
    case length
    /// `true` or `false`, each with its value in the style sheet.
    case flag(yes: String, no: String)
    /// One of some words, each with its value in the style sheet.
    case keyword([String: String])
    /// `#rgb`, `#rgba`, `#rrggbb` or `#rrggbbaa`, or an object with such a colour for `light` and for `dark`.
    case color
    case animation

    static let lengths = 0.0...10_000
    static let sizes = ["fill": "100%", "content": "max-content"]

    /// Reads a value; `nil` if the attribute can't have it.
    func read(_ value: Datum) -> StyleValue? {
        switch self {
        case .number(let range, let unit):
            guard let number = value.number, range.contains(number) else { return nil }
            return unit == .whole && number.rounded() != number ? nil : .number(number)
        case .length:
            if let word = value.word { return Self.sizes[word] == nil ? nil : .keyword(word) }
            guard let number = value.number, Self.lengths.contains(number) else { return nil }
            return .number(number)
        case .flag:
            guard case .json(let flag) = value else { return nil }
            return flag.bool.map { .flag($0) }
        case .keyword(let words):
            guard let word = value.word, words[word] != nil else { return nil }
            return .keyword(word)
        case .color:
            if let color = value.word.flatMap(RGBA.init) { return .color(light: color, dark: color) }
            guard case .json(let pair) = value, pair.count == 2, let light = pair["light"].word.flatMap(RGBA.init),
                let dark = pair["dark"].word.flatMap(RGBA.init)
            else { return nil }
            return .color(light: light, dark: dark)
        case .animation:
            guard case .json(let value) = value else { return nil }
            return ViewAnimation(value).map { .animation($0) }
        }
    }

    /// The form in words, for errors.
    var description: String {
        switch self {
        case .number(let range, let unit):
            "\(unit == .whole ? "a whole number" : "a number") from \(range.lowerBound.plain) to \(range.upperBound.plain)"
        case .length: "a number from 0 to \(Self.lengths.upperBound.plain) or one of content, fill"
        case .flag: "true or false"
        case .keyword(let words): "one of \(words.keys.sorted().joined(separator: ", "))"
        case .color: "a colour such as \"#0a60ff\", or an object with a colour for \"light\" and for \"dark\""
        case .animation: "an object with \"property\", \"from\", \"to\" and \"seconds\""
        }
    }
}

/// A valid value of an attribute.
enum StyleValue: Sendable, Hashable {
    case number(Double)
    case flag(Bool)
    case keyword(String)
    case color(light: RGBA, dark: RGBA)
    case animation(ViewAnimation)
}

/// A colour in sRGB.
struct RGBA: Sendable, Hashable {
    let red, green, blue, alpha: UInt8

    /// Reads `#rgb`, `#rgba`, `#rrggbb` or `#rrggbbaa`.
    init?(_ text: String) {
        let digits = text.utf8.dropFirst().compactMap { Character(UnicodeScalar($0)).hexDigitValue.map(UInt8.init) }
        guard text.utf8.first == UInt8(ascii: "#"), digits.count == text.utf8.count - 1 else { return nil }
        let bytes: [UInt8]
        switch digits.count {
        case 3, 4: bytes = digits.map { $0 * 17 }
        case 6, 8: bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] * 16 + digits[$0 + 1] }
        default: return nil
        }
        (red, green, blue, alpha) = (bytes[0], bytes[1], bytes[2], bytes.count == 4 ? bytes[3] : 255)
    }

    var css: String {
        "#" + [red, green, blue, alpha].map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
    }
}

/// A change of one property over time, linear.
struct ViewAnimation: Sendable, Hashable {
    enum Property: String, CaseIterable, Sendable {
        /// A shift in the direction of the text, in percent of the node's own width.
        case slide
        case opacity, scale, rotate

        var range: ClosedRange<Double> {
            switch self {
            case .slide: -1000...1000
            case .opacity: 0...1
            case .scale: 0...10
            case .rotate: -3600...3600
            }
        }
    }

    let property: Property
    let from, to: Double
    let seconds: Double
    /// Whether the change begins anew at its end. The default is `true`.
    let repeats: Bool
    /// Whether every second run goes backwards. The default is `false`.
    let reverses: Bool

    static let durations = 0.1...3600
    private static let maximumMemberCount = 16

    init?(_ value: JSONValue) {
        // An object of data may have any number of other members, which lookups pass by.
        guard value.count <= Self.maximumMemberCount, let property = value["property"].word.flatMap(Property.init),
            let from = value["from"].number, let to = value["to"].number, let seconds = value["seconds"].number,
            property.range.contains(from),
            property.range.contains(to), Self.durations.contains(seconds)
        else { return nil }
        let (repeats, reverses) = (value["repeats"], value["reverses"])
        guard !repeats.exists || repeats.bool != nil, !reverses.exists || reverses.bool != nil else { return nil }
        (self.property, self.from, self.to, self.seconds) = (property, from, to, seconds)
        (self.repeats, self.reverses) = (repeats.bool ?? true, reverses.bool ?? false)
    }
}

extension Double {
    /// The number without a fraction of zero.
    var plain: String {
        let text = "\(self)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
