import RunwayJSON
import Testing

/// Nothing in the module recurses: a million levels take memory, never stack.
@Suite struct DepthTests {
    private static let depth = 1_000_000
    private static let limits = JSONLimits(maximumDepth: depth)

    private func nested(_ opening: String, _ closing: String, depth: Int = depth) throws -> JSONDocument {
        let text = String(repeating: opening, count: depth) + "1" + String(repeating: closing, count: depth)
        return try JSONDocument(text, limits: Self.limits)
    }

    @Test func aMillionArraysAreReadWrittenAndShown() throws {
        let document = try nested("[", "]")
        var value = document.root
        var depth = 0
        while value.kind == .array {
            value = value[0]
            depth += 1
        }
        #expect(depth == Self.depth)
        #expect(value.int == 1)
        #expect(document.root.canonicalBytes() == document.bytes)
        #expect(document.description.utf8.count < 10_000)
        #expect(value.path.utf8.count == 3 * Self.depth)
        #expect(value.debugDescription.utf8.count < 1000)
        let error = try #require(throws: JSONError.self) { try value.require(String.self) }
        #expect(error.description.utf8.count < 1000)
        var dumped = ""
        dump(document, to: &dumped)
        #expect(dumped.utf8.count < 12_000)
    }

    @Test func manyObjectsAreReadWrittenAndShown() throws {
        let depth = Self.depth / 10
        let document = try nested(#"{"b":2,"a":"#, "}", depth: depth)
        let sorted =
            String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: #","b":2}"#, count: depth)
        #expect(document.root.canonicalBytes() == Array(sorted.utf8))
        #expect(document.root.canonicalBytes(sortsKeys: false) == document.bytes)
        #expect(document.description.utf8.count < 10_000)
    }

    @Test func oneExcessLevelIsRefusedWithItsPlace() throws {
        for opening in ["[", #"{"a":"#] {
            let text = String(repeating: opening, count: Self.depth + 1)
            let error = try #require(throws: JSONError.self) { try JSONDocument(text, limits: Self.limits) }
            #expect(error.kind == .limitExceeded)
            #expect(error.offset == Self.depth * opening.utf8.count)
        }
    }

    /// Goes down by containers, one inside the other.
    struct Descent: Decodable {
        var depth = 0

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            while let inner = try? container.nestedUnkeyedContainer() {
                container = inner
                depth += 1
            }
        }
    }

    @Test func theDecodersContainersGoDownAMillionLevels() throws {
        let descent = try JSONDocumentDecoder().decode(Descent.self, from: nested("[", "]"))
        #expect(descent.depth == Self.depth - 1)
    }

    /// A type whose own `init(from:)` recurses, as every type of trees does.
    struct Tree: Decodable {
        var children: [Tree]?
    }

    @Test func treeOfTheGreatestDepthDecodes() throws {
        let levels = 256
        let text =
            String(repeating: #"{"children":["#, count: levels - 1) + "{}" + String(repeating: "]}", count: levels - 1)
        var tree = try JSONDocumentDecoder().decode(Tree.self, from: Array(text.utf8))
        var depth = 1
        while let child = tree.children?.first { (tree, depth) = (child, depth + 1) }
        #expect(depth == levels)
    }
}
