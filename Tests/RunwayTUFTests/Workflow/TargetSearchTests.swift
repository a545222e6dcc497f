import RunwaySignatures
import Testing

@testable import RunwayTUF

struct TargetSearchTests {
    /// A graph of roles, all of one key: the paths of each role's own files, and its delegations.
    private struct Graph {
        struct Edge {
            let name: String
            var scope = #""paths":["*"]"#
            var isTerminating = false
        }

        let key = TestKey()
        var files: [String: [String]] = [:]
        var edges: [String: [Edge]] = [:]

        func content(_ role: String) throws -> TargetsContent {
            var targets: CanonicalObject = [:]
            for path in files[role] ?? [] {
                targets[path] = .object(TargetFile(path: path, digest: FileDigest(of: Array(role.utf8))).object)
            }
            let roles = try (edges[role] ?? []).map { edge in
                let text = """
                    {"name":"\(edge.name)","keyids":["\(key.id)"],"threshold":1,\(edge.scope),"terminating":\(edge.isTerminating)}
                    """
                return try CanonicalValue(reading: Array(text.utf8), maximumByteCount: 10_000)
            }
            return try TargetsContent([
                "targets": .object(targets),
                "delegations": .object(["keys": TestRepository.keyTable([key]), "roles": .array(roles)]),
            ])
        }

        /// Returns the visited roles, and the role that listed the target.
        func search(_ path: String) throws -> (visited: [String], found: String?) {
            var search = TargetSearch(for: path, in: try TrustedMetadata(TestRepository()))
            var visited: [String] = []
            while let role = search.next() {
                visited.append(role.name)
                search.visit(try content(role.name))
            }
            let found = search.target.flatMap { target in
                files.keys.first { target.digest.matches(Array($0.utf8)) }
            }
            return (visited, found)
        }
    }

    @Test func theFirstRoleWins() throws {
        var graph = Graph()
        graph.edges = ["targets": [.init(name: "a"), .init(name: "d")], "a": [.init(name: "b"), .init(name: "c")]]
        graph.files = ["c": ["x"], "d": ["x"]]
        let result = try graph.search("x")
        #expect(result.visited == ["targets", "a", "b", "c"])
        #expect(result.found == "c")
        #expect(try graph.search("y").visited == ["targets", "a", "b", "c", "d"])
    }

    @Test func terminatingRolesEndTheSearch() throws {
        var graph = Graph()
        graph.edges = [
            "targets": [.init(name: "a"), .init(name: "d")],
            "a": [.init(name: "b", isTerminating: true), .init(name: "c")], "b": [.init(name: "e")],
        ]
        graph.files = ["c": ["x"], "d": ["x"]]
        let result = try graph.search("x")
        #expect(result.visited == ["targets", "a", "b", "e"])
        #expect(result.found == nil)
    }

    @Test func terminationNeedsAMatch() throws {
        var graph = Graph()
        graph.edges = ["targets": [.init(name: "a", scope: #""paths":["z"]"#, isTerminating: true), .init(name: "b")]]
        graph.files = ["a": ["x"], "b": ["x"]]
        #expect(try graph.search("x") == (["targets", "b"], "b"))
    }

    @Test func rolesAreConfinedToTheirPaths() throws {
        var graph = Graph()
        graph.edges = [
            "targets": [.init(name: "a", scope: #""paths":["shop/*"]"#)],
            "a": [.init(name: "b", scope: #""paths":["*/x"]"#)],
        ]
        graph.files = ["a": ["pay/x"], "b": ["pay/x", "shop/x"]]
        #expect(try graph.search("pay/x").found == nil)
        #expect(try graph.search("shop/x").found == "b")
    }

    @Test func hashPrefixesAssignPaths() throws {
        let prefix = String(Hexadecimal.sha256(Array("x".utf8)).prefix(3))
        var graph = Graph()
        graph.edges = ["targets": [.init(name: "a", scope: #""path_hash_prefixes":["\#(prefix)"]"#)]]
        graph.files = ["a": ["x", "y"]]
        #expect(try graph.search("x").found == "a")
        #expect(try graph.search("y").found == nil)
    }

    @Test func cyclesEnd() throws {
        var graph = Graph()
        graph.edges = ["targets": [.init(name: "a")], "a": [.init(name: "b")], "b": [.init(name: "a")]]
        #expect(try graph.search("x").visited == ["targets", "a", "b"])
        graph.edges["targets"] = (0..<100).map { .init(name: "r\($0)") }
        #expect(try graph.search("x").visited.count == UpdateLimits().visitedRoles)
    }

    @Test func delegatedRolesNeedTheirKeys() throws {
        let (repository, key) = (TestRepository(), TestKey())
        let role: CanonicalObject = [
            "name": "shop", "keyids": .array([.string(key.id)]), "threshold": .integer(1), "paths": .array(["*"]),
        ]
        let top = try repository.targets(
            files: [:], delegations: ["keys": TestRepository.keyTable([key]), "roles": .array([.object(role)])])
        let shop = try repository.targets(files: ["x": "1"], signedBy: [key])
        let evil = try repository.targets(files: ["x": "2"])
        var trusted = try TrustedMetadata(repository)
        _ = try trusted.updateTimestamp(try repository.timestamp(snapshot: .version(1)))
        try trusted.updateSnapshot(
            try repository.snapshot(files: ["targets.json": .version(1), "shop.json": .version(1)]))
        var search = TargetSearch(for: "x", in: trusted)
        let root = search.next()
        let first = try #require(root)
        search.visit(try trusted.targets(top, of: first).content)
        let next = search.next()
        let second = try #require(next)
        #expect(refusal { _ = try trusted.targets(evil, of: second) } == "shop threshold 5.6.3")
        search.visit(try trusted.targets(shop, of: second).content)
        #expect(search.target?.digest.matches(Array("1".utf8)) == true)
    }
}
