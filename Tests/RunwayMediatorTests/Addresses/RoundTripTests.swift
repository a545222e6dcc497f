import Foundation
import RunwayMediator
import Testing

/// Random pages and random changes of addresses, each from a seed.
struct RoundTripTests {
    private let mediator: Mediator

    init() async { mediator = await Mediator(fallback: .web("https://m.example.com")) { AnyModule() } }

    @Test(arguments: 0..<10) func randomPagesReadAsTheyWereWritten(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<10_000 {
            let page = AnyPage.random(with: &random)
            let address = try mediator.address(of: page)
            #expect(try mediator.page(at: address) as? AnyPage == page, "seed \(seed): \(address)")
        }
    }

    @Test(arguments: 10..<12) func randomPagesHaveAddressesOnTheSite(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var templates = 0
        for _ in 0..<5_000 {
            let page = AnyPage.random(with: &random)
            let address = try mediator.webAddress(of: page)
            templates += address.hasPrefix("https://m.example.com/any/") ? 0 : 1
            #expect(try mediator.page(at: address) as? AnyPage == page, "seed \(seed): \(address)")
        }
        #expect(templates > 500)
    }

    @Test(arguments: [
        ("fractions?double=5", true), ("fractions?double=5.0", false), ("fractions?double=-0.25", true),
        ("fractions?double=.25", false), ("fractions?double=2e1", false), ("fractions?double=nan", false),
        ("fractions?double=0x1p3", false), ("fractions?double=1e%2B300", true), ("fractions?double=1E%2B300", false),
        ("unique?id=3f2504e0-4f89-41d3-9a0c-0305e82c3301", true),
        ("unique?id=3F2504E0-4F89-41D3-9A0C-0305E82C3301", false),
        ("unique?id=3f2504e04f8941d39a0c0305e82c3301", false), ("kinds?id=7&isOn=true", true),
        ("kinds?id=7&isOn=TRUE", false), ("kinds?id=7&isOn=1", false), ("kinds?order=by%20price&id=7&isOn=true", true),
        ("kinds?order=cheapest&id=7&isOn=true", false), ("kinds?id=-7&isOn=true", false),
        ("numbers?int=7&small=128&large=0", false), ("numbers?int=7&small=127&large=18446744073709551615", true),
    ])
    func valuesHaveOneForm(path: String, isRead: Bool) throws {
        let address = "app://any/\(path)"
        guard let page = try? mediator.page(at: address) as? AnyPage else { return #expect(!isRead) }
        #expect(try isRead && mediator.address(of: page) == address)
    }

    /// Whatever is accepted is the address of one page, written as the app writes it.
    @Test(arguments: 20..<24) func changedAddressesAreRefusedOrCanonical(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("%&=?/#+.:@0123456789abcdefABCDEFidtext \u{0}\\;~".utf8)
        var accepted = 0
        for _ in 0..<5_000 {
            let page = AnyPage.random(with: &random)
            let isOfSite = Bool.random(using: &random)
            var bytes = Array(try (isOfSite ? mediator.webAddress(of: page) : mediator.address(of: page)).utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = alphabet.randomElement(using: &random) ?? 0
                case 1: bytes.insert(alphabet.randomElement(using: &random) ?? 0, at: index)
                default: if bytes.count > 1 { bytes.remove(at: index) }
                }
            }
            let changed = String(decoding: bytes, as: UTF8.self)
            guard let found = try? mediator.page(at: changed) as? AnyPage else { continue }
            accepted += 1
            let address = try mediator.address(of: found)
            #expect(try mediator.page(at: address) as? AnyPage == found, "seed \(seed): \(changed)")
            guard changed.lowercased().hasPrefix("app") else { continue }
            #expect(query(of: changed) == query(of: address), "seed \(seed): \(changed)")
        }
        #expect(accepted > 100)
    }

    /// The parameters, as Foundation reads them.
    private func query(of address: String) -> Set<[String]> {
        Set(URLComponents(string: address)?.queryItems?.map { [$0.name, $0.value ?? "-"] } ?? [])
    }
}

enum AnyPage: Page {
    enum Order: String, Codable, CaseIterable { case newest, cheapest = "by price" }
    struct ID: RawRepresentable, Codable, Hashable { var rawValue: UInt32 }

    static let module = "any"
    case none
    case text(text: String, other: String?)
    case numbers(int: Int, small: Int8?, large: UInt64)
    case fractions(double: Double, float: Float?)
    case kinds(order: Order?, id: ID, isOn: Bool)
    case unique(id: UUID, at: Date?)
    case words(String, Int?)

    var reach: Reach { .links }

    static func random(with random: inout SeededGenerator) -> AnyPage {
        func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return .none
        case 1: return .text(text: word(with: &random), other: maybe(word(with: &random)))
        case 2:
            return .numbers(
                int: Int(truncatingIfNeeded: random.next()), small: maybe(.random(in: .min ... .max, using: &random)),
                large: random.next() >> Int.random(in: 0..<64, using: &random))
        case 3:
            let double = Double(bitPattern: random.next())
            let float = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
            return .fractions(double: double.isFinite ? double : 0.5, float: maybe(float.isFinite ? float : 7))
        case 4:
            return .kinds(
                order: Order.allCases.randomElement(using: &random),
                id: ID(rawValue: .random(in: 0...9, using: &random)),
                isOn: .random(using: &random))
        case 5: return .unique(id: uuid(with: &random), at: maybe(Date(timeIntervalSinceReferenceDate: 86_400.5)))
        default: return .words(word(with: &random), maybe(.random(in: -9...9, using: &random)))
        }
    }

    private static func uuid(with random: inout SeededGenerator) -> UUID {
        let hex = (0..<2).map { _ in String(random.next() | 1 << 63, radix: 16) }.joined()
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(Array(hex)[$0]) }
        return UUID(uuidString: parts.joined(separator: "-")) ?? UUID()
    }

    private static let characters = Array(
        "ab.%/?#&=+ \n\t\"'<>{}|\\^`:;@[]*~-_$!,()ÄßéĲ한漢🚀👩‍👩‍👧‍👦\u{301}\u{7F}\u{FEFF}\u{10FFFF}")

    /// Up to eight characters, many of which must be encoded; also "", "." and "..".
    private static func word(with random: inout SeededGenerator) -> String {
        return String(
            (0..<Int.random(in: 0...8, using: &random)).compactMap { _ in characters.randomElement(using: &random) })
    }
}

struct AnyModule: Module {
    func screen(for page: AnyPage, in mediator: Mediator) -> Screen { Screen(page) }
    var paths: KeyValuePairs<String, String> {
        [
            "text": "/t/{text}/{other}", "text": "/t/{text}", "words": "/any/{_0}", "numbers": "/n/{int}",
            "none": "/über uns",
        ]
    }
}

/// A generator of the same numbers for the same seed (SplitMix64), so that a failure can be run again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
