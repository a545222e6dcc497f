/// The content of the marker file: which bundle's script runs, and which bundles are condemned. Pure.
///
/// | bytes | content |
/// |---|---|
/// | 0 to 15 | the name of the format |
/// | 16 | the number of the bundle whose script runs, from 1; 0 if none does |
/// | 64 to 319 | the digests of the bundles with the numbers 1 to 8 |
/// | 320 to 1,343 | the digests of the last 32 condemned bundles, the newest first |
///
/// A file of another form is replaced by an empty one: a digest that was half written equals none.
struct MarkerContent: Equatable, Sendable {
    static let byteCount = 4_096
    static let runningOffset = 16
    static let maximumBundles = 8
    static let maximumCondemned = 32
    /// The bytes that change only when bundles are loaded and condemned. Writing them leaves the number of the running
    /// bundle alone.
    static let tables = 64..<1_344

    private static let format = Array("runway scripts 1".utf8)
    private static let digestCount = 32
    private static let condemnedOffset = 320

    private(set) var bytes: [UInt8]

    /// Reads a file that an earlier process left, and condemns the bundle whose script ran when that process ended.
    init(reading file: [UInt8]) {
        bytes = file
        if file.count != Self.byteCount || !file.starts(with: Self.format) {
            bytes = Self.format + Array(repeating: 0, count: Self.byteCount - Self.format.count)
        }
        let running = Int(bytes[Self.runningOffset])
        if (1...Self.maximumBundles).contains(running) { condemn(running) }
        bytes[Self.runningOffset] = 0
        for number in 1...Self.maximumBundles { bytes.replaceSubrange(Self.place(of: number), with: Self.empty) }
    }

    private static let empty = [UInt8](repeating: 0, count: digestCount)

    private static func place(of number: Int) -> Range<Int> {
        let start = tables.lowerBound + (number - 1) * digestCount
        return start..<(start + digestCount)
    }

    private static func condemnedPlace(_ index: Int) -> Range<Int> {
        let start = condemnedOffset + index * digestCount
        return start..<(start + digestCount)
    }

    func isCondemned(_ digest: [UInt8]) -> Bool {
        (0..<Self.maximumCondemned).contains { bytes[Self.condemnedPlace($0)].elementsEqual(digest) }
    }

    /// Registers a bundle. Returns its number, or `nil` if 8 others are registered.
    mutating func register(_ digest: [UInt8]) -> Int? {
        let numbers = 1...Self.maximumBundles
        let known = numbers.first { bytes[Self.place(of: $0)].elementsEqual(digest) }
        guard let number = known ?? numbers.first(where: { bytes[Self.place(of: $0)].elementsEqual(Self.empty) }) else {
            return nil
        }
        bytes.replaceSubrange(Self.place(of: number), with: digest)
        return number
    }

    mutating func unregister(_ number: Int) { bytes.replaceSubrange(Self.place(of: number), with: Self.empty) }

    /// Condemns a registered bundle. The oldest condemned one is forgotten if there are more than 32.
    mutating func condemn(_ number: Int) {
        let digest = Array(bytes[Self.place(of: number)])
        guard digest != Self.empty, !isCondemned(digest) else { return }
        bytes.removeSubrange(Self.condemnedPlace(Self.maximumCondemned - 1))
        bytes.insert(contentsOf: digest, at: Self.condemnedOffset)
    }
}
