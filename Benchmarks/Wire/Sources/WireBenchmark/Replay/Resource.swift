import RunwayJSON
import RunwayTesting

/// What the app of the session asks its backend for: homes in a few cities.
enum Resource: Hashable, Sendable {
    /// One page of a city's homes, by a filter.
    case list(city: Int, filter: Int, page: Int)
    /// All about one home.
    case details(city: Int, home: Int)
    /// Where a city's homes are.
    case map(city: Int)

    static let cities = 0..<3
    static let filters = 0..<3
    static let pages = 0..<2
    private static let rowCount = 17

    /// The homes on one page of a list. No home is on two.
    static func homes(filter: Int, page: Int) -> Range<Int> {
        let start = (filter * pages.count + page) * rowCount
        return start..<start + rowCount
    }

    /// The path and the query below the base URL.
    var target: String {
        switch self {
        case .list(let city, let filter, let page): "cities/\(city)/homes?filter=\(filter)&page=\(page)"
        case .details(let city, let home): "cities/\(city)/homes/\(home)"
        case .map(let city): "cities/\(city)/map"
        }
    }
}

/// One response of the backend; a list has a new one after every publication.
struct ExpectedResponse: Hashable, Sendable {
    let resource: Resource
    let revision: Int

    /// The body that the backend sends and that every contender has to give, of 2 to 5 KB.
    var body: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("revision", revision)
        switch resource {
        case .list(let city, let filter, let page):
            writer.member("city", city)
            writer.member("filter", filter)
            writer.member("page", page)
            writer.name("homes")
            writer.beginArray()
            for home in Resource.homes(filter: filter, page: page) {
                writer.beginObject()
                writer.member("id", home)
                writer.name("text")
                writer.string(Self.text(ofCount: 24, seed: city * 1000 + home * 10 + revision))
                writer.endObject()
            }
            writer.endArray()
        case .details(let city, let home):
            writer.member("city", city)
            writer.member("home", home)
            writer.name("text")
            writer.string(Self.text(ofCount: 300, seed: 100_000 + city * 1000 + home))
        case .map(let city):
            writer.member("city", city)
            writer.name("places")
            writer.string(Self.text(ofCount: 600, seed: 200_000 + city))
        }
        writer.endObject()
        return writer.bytes
    }

    private static func text(ofCount count: Int, seed: Int) -> String {
        var random = SeededGenerator(seed: UInt64(seed))
        return (0..<count).map { _ in words[Int.random(in: words.indices, using: &random)] }.joined(separator: " ")
    }

    private static let words = [
        "bright", "quiet", "garden", "near", "the", "river", "with", "balcony", "two", "rooms", "kitchen", "station",
    ]
}

extension JSONWriter {
    fileprivate mutating func member(_ name: String, _ value: Int) {
        self.name(name)
        integer(value)
    }
}
