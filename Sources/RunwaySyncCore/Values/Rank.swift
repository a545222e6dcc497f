/// The position of a row in a list that its user orders (rule 16). Ranks sort as text, byte by byte; rows with equal
/// ranks sort by id.
///
/// ```swift
/// task.rank = Rank.between(above?.rank, below?.rank, using: &random)
/// ```
///
/// Moving a row changes only its rank. Three random characters at the end make it unlikely that two devices choose the
/// same rank for two rows.
public struct Rank: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The text to store: digits and letters of ASCII, at least four.
    public let description: String

    /// Reads a stored rank.
    ///
    /// - Returns: `nil` if the text has other characters, fewer than four, or ends in "0".
    public init?(_ description: String) {
        let isValid = description.utf8.allSatisfy { Self.digits.contains($0) } && description.utf8.count > 3
        guard isValid, description.utf8.last != Self.digits[0] else { return nil }
        self.description = description
    }

    private init(_ fraction: [Int]) { description = String(decoding: fraction.map { Self.digits[$0] }, as: UTF8.self) }

    /// Makes a rank between two others.
    ///
    /// - Parameters:
    ///   - lower: The rank of the row above; `nil` for the start of the list.
    ///   - upper: The rank of the row below; `nil` for the end of the list. If it is not larger than `lower`, it is
    ///     ignored.
    ///   - random: The source of the three random characters at the end.
    public static func between(_ lower: Rank?, _ upper: Rank?, using random: inout some RandomNumberGenerator) -> Rank {
        let low = lower?.fraction ?? []
        let high = upper.flatMap { upper in lower.map { $0 < upper } ?? true ? upper.fraction : nil }
        // If a list grows at one end only, its ranks stay short for millions of rows.
        let next = high == nil ? step(from: low, by: 1) : low.isEmpty ? step(from: high ?? [], by: -1) : nil
        let end: [Int] = [
            .random(in: 0..<digits.count, using: &random), .random(in: 0..<digits.count, using: &random),
            .random(in: 1..<digits.count, using: &random),
        ]
        return Rank((next ?? middle(of: low, and: high)) + end)
    }

    /// Returns the next or the previous fraction of four digits; `nil` if there is none.
    private static func step(from fraction: [Int], by offset: Int) -> [Int]? {
        guard fraction.count > 3 else { return nil }
        var place = fraction.prefix(4).reduce(0) { $0 * digits.count + $1 } + offset
        var step: [Int] = []
        for _ in 0..<4 {
            step.insert(place % digits.count, at: 0)
            place /= digits.count
        }
        return place == 0 && !step.contains { $0 < 0 } && step != [0, 0, 0, 0] ? step : nil
    }

    /// Returns the shortest fraction between two others, which halves the first digit in which they differ.
    private static func middle(of low: [Int], and high: [Int]?) -> [Int] {
        var middle: [Int] = []
        var isBounded = high != nil
        while true {
            let index = middle.count
            let bottom = index < low.count ? low[index] : 0
            let top = isBounded ? high.map { index < $0.count ? $0[index] : 0 } ?? 0 : digits.count
            if top - bottom > 1 { return middle + [(bottom + top) / 2] }
            middle.append(bottom)
            if bottom < top { isBounded = false }
        }
    }

    /// Compares byte by byte.
    public static func < (left: Rank, right: Rank) -> Bool {
        left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }

    private static let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    private var fraction: [Int] { description.utf8.map { Self.digits.firstIndex(of: $0) ?? 0 } }
}
