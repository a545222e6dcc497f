import Foundation
import Testing

/// Which folder of a target names types of which other folder.
///
/// Comments and strings do not count, nor do names that more than one file declares.
private struct FolderGraph {
    /// The folders that a folder names types of, and the types.
    private(set) var names: [String: [String: Set<String>]] = [:]

    init(target: String) throws {
        let declaration =
            /^ *(?:(?:public|package|private|fileprivate|internal|final|indirect|@\w+) )*(?:class|struct|enum|protocol|actor|typealias) (\w+)/
            .anchorsMatchLineEndings()
        let noise = #//\/.*|"(?:\\.|[^"\\\n])*"/#
        var declared: [String: Set<String>] = [:]
        var code: [String: String] = [:]
        for file in try Project.files(in: target, endingIn: [".swift"]) {
            let text = file.text.replacing(noise, with: "")
            code[file.path] = text
            for match in text.matches(of: declaration) { declared[String(match.1), default: []].insert(file.path) }
        }
        for (path, text) in code {
            let folder = Self.folder(of: path, in: target)
            for match in text.matches(of: /\b[A-Z]\w+\b/) {
                let name = String(match.0)
                guard let places = declared[name], places.count == 1, let place = places.first else { continue }
                let other = Self.folder(of: place, in: target)
                if other != folder { names[folder, default: [:]][other, default: []].insert(name) }
            }
        }
    }

    private static func folder(of path: String, in target: String) -> String {
        let parts = path.dropFirst(target.count + 1).split(separator: "/")
        if parts[0] == "Stages", parts.count > 2 { return parts[..<2].joined(separator: "/") }
        return parts.count > 1 ? String(parts[0]) : "(root)"
    }

    /// A line for each stage that names types of another stage.
    var arrowsBetweenStages: [String] {
        names.flatMap { folder, others in
            others.filter { folder.hasPrefix("Stages/") && $0.key.hasPrefix("Stages/") }
                .map { "\(folder) names \($0.value.sorted().joined(separator: ", ")) of \($0.key)" }
        }.sorted()
    }

    /// A line for each pair of folders that name types of each other.
    var mutualPairs: [String] {
        names.flatMap { folder, others in
            others.keys.filter { folder < $0 && names[$0]?[folder] != nil }.map { "\(folder) and \($0)" }
        }.sorted()
    }
}

/// The borders between the folders of a target, which ARCHITECTURE.md states.
struct FolderBorderTests {
    @Test func stagesDoNotNameEachOther() throws {
        let arrows = try FolderGraph(target: "Sources/Runway").arrowsBetweenStages
        #expect(arrows.isEmpty, "\(arrows.joined(separator: "\n"))")
    }

    @Test(arguments: [("Sources/Runway", 11), ("Sources/RunwayTransport", 5), ("Sources/RunwayJSON", 6)])
    func fewFoldersNameEachOther(target: String, maximum: Int) throws {
        let pairs = try FolderGraph(target: target).mutualPairs
        #expect(pairs.count <= maximum, "\(target): \(pairs.joined(separator: "\n"))")
    }

    @Test func noStageIsRecognisedByItsType() throws {
        for file in try Project.files(in: "Sources", endingIn: [".swift"]) {
            for (number, line) in file.lines.enumerated() {
                let isRecognised = line.contains(/\b(is|as\?|as!) (any )?\w+Stage\b/) && !line.contains("//")
                #expect(!isRecognised, "\(file.path):\(number + 1) asks for the type of a stage")
            }
        }
    }

    @Test func theCountFindsTheTypesOfOtherFolders() throws {
        let graph = try FolderGraph(target: "Sources/RunwayTransport")
        #expect(graph.names["Pool"]?["NIO"]?.contains("HTTP1Connection") == true)
    }
}
