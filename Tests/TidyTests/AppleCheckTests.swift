import Foundation
import Testing

/// `Scripts/apple.sh` compiles all that only Apple's systems compile, or says that it does not.
struct AppleCheckTests {
    /// Targets that it leaves out.
    private static let leftOut = [
        "in C, whose code is the same everywhere": [
            "RunwayJSONSIMD", "RunwayZlib", "RunwayDigest", "RunwayBrotli", "RunwayZstd", "RunwayLibPQ",
            "RunwayJavaScript", "RunwayLua",
            "CountedAllocation",
        ],
        "in C, which does nothing on systems other than Linux": ["RunwayFiles"],
        "behind a trait that is off, with no condition on a system": ["RunwayPostgreSQL", "RunwayPostgreSQLTests"],
        "samples, built by a script of their own": ["SampleServer", "SampleClient"],
    ]

    private let script: String

    init() throws { script = try Project.file("Scripts/apple.sh").text }

    /// The names that a condition has in the pattern by which the script sets it.
    private func names(set value: String) throws -> Set<Substring> {
        let patterns = script.matches(of: /canImport\\\(\(([\w|]+)\)\\\)\/(true|false)/).filter { $0.output.2 == value }
        return Set(try #require(patterns.first).output.1.split(separator: "|"))
    }

    private func isCondition(_ line: Substring) -> Bool {
        let code = line.drop { $0 == " " }
        return code.hasPrefix("#if ") || code.hasPrefix("#elseif ")
    }

    @Test func everyTargetIsCompiledOrLeftOut() throws {
        let manifest = try Project.file("Package.swift").text
        let targets = Set(manifest.matches(of: /arget\(\s*name: "(\w+)"/).map { String($0.output.1) })
        let lists = script.matches(of: /(?:^|\n)\w+=\(([\w\s]+)\)/).flatMap {
            $0.output.1.split(whereSeparator: \.isWhitespace)
        }
        let compiled = Set(lists.map(String.init).filter { targets.contains($0) })
        let leftOut = Set(Self.leftOut.values.joined())
        #expect(targets.count > 30 && targets == compiled.union(leftOut))
        #expect(compiled.isDisjoint(with: leftOut))
    }

    @Test func everyModuleThatAConditionNamesIsSet() throws {
        let known = try names(set: "true").union(names(set: "false"))
        #expect(known.contains("Darwin") && known.contains("Glibc"))
        for file in try Project.files(in: "Sources", "Tests", "Samples", endingIn: [".swift"]) {
            for (number, line) in file.lines.enumerated() where isCondition(line) {
                for match in line.matches(of: /canImport\((\w+)\)/) {
                    #expect(
                        known.contains(match.output.1),
                        "\(file.path):\(number + 1): Scripts/apple.sh does not set canImport(\(match.output.1))")
                }
            }
        }
    }

    /// A condition that holds on macOS is compiled with everything else; code for its siblings needs its target to be compiled for one.
    @Test func conditionsNameOnlySystemsOfTheirTarget() throws {
        let compiled = script.matches(of: /otherSystem (\w+)((?: \w+)+)\n/).flatMap { match in
            match.output.2.split(separator: " ").map { "\(match.output.1) \($0)" }
        }
        #expect(compiled.contains("watchOS Runway"))
        for file in try Project.files(in: "Sources", endingIn: [".swift"]) {
            let target = file.path.split(separator: "/")[1]
            for (number, line) in file.lines.enumerated() where isCondition(line) {
                let systems = line.matches(of: /os\((\w+)\)/).map(\.output.1)
                if systems.isEmpty || systems.contains("macOS") || systems == ["Linux"] { continue }
                #expect(
                    systems.contains { compiled.contains("\($0) \(target)") },
                    "\(file.path):\(number + 1): Scripts/apple.sh does not compile \(target) for \(systems)")
            }
        }
    }
}
