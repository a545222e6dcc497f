import Foundation
import Testing

/// The map of ARCHITECTURE.md has every folder of the sources, and no other.
struct MapTests {
    /// The folders that begin a line of the map, by their paths below the root. Indentation puts a folder below the one above it.
    private func folders() throws -> [String] {
        let lines = try Project.file("ARCHITECTURE.md").lines
        let map = lines.drop { $0 != "```" }.dropFirst().prefix { $0 != "```" }
        var parents: [(indentation: Int, folder: String)] = []
        var folders: [String] = []
        for line in map {
            guard let match = line.prefixMatch(of: #/( {0,6})([A-Z][\w/]*/) /#) else { continue }
            parents.removeAll { $0.indentation >= match.1.count }
            let folder = "\(parents.last?.folder ?? "")\(match.2)"
            parents.append((match.1.count, folder))
            folders.append(folder)
        }
        return folders
    }

    @Test func everyFolderHasItsLine() throws {
        let mapped = Set(try folders())
        let sources = try Project.files(in: "Sources", endingIn: [".swift"]).map { file in
            file.path.split(separator: "/").dropLast().map { "\($0)/" }.joined()
        }
        for folder in Set(sources).sorted() {
            #expect(mapped.contains(folder), "the map of ARCHITECTURE.md has no line for \(folder)")
        }
    }

    @Test func everyFolderOfTheMapExists() throws {
        let folders = try folders()
        #expect(folders.count > 100 && Set(folders).count == folders.count)
        for folder in folders {
            let values = try? Project.root.appending(path: folder).resourceValues(forKeys: [.isDirectoryKey])
            #expect(values?.isDirectory == true, "there is no \(folder)")
        }
    }
}
