/// A number of bytes as a person reads it: in the unit that fits, a thousand to the next.
struct ByteCount: CustomStringConvertible {
    let count: Int

    init(_ count: Int) { self.count = count }

    var description: String {
        if count < 1000 { return count == 1 ? "1 byte" : "\(count) bytes" }
        var value = Double(count) / 1000
        for unit in ["kB", "MB"] {
            if value < 1000 { return "\(Self.rounded(value)) \(unit)" }
            value /= 1000
        }
        return "\(Self.rounded(value)) GB"
    }

    private static func rounded(_ value: Double) -> String {
        value >= 100 ? "\(Int(value))" : "\((value * 10).rounded(.down) / 10)"
    }
}
