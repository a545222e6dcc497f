import Foundation
import Testing

/// The test vectors of docs/formats.md, which every implementation must meet.
struct FormatVectors {
    let secret = "cnVud2F5IHRlc3Qgc2VjcmV0IDAxMjM0NTY3ODk=\n"
    let serverKey = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=\n"
    /// The requests: a signature, a digest by SHA-256, one by MD5, and one with a sealed key.
    let requests: [String]
    /// What is signed of the first two.
    let bases: [String]

    init() throws {
        let page = try String(
            contentsOf: Self.root.appending(path: "docs/formats.md"), encoding: .utf8)
        let blocks = page.components(separatedBy: "```").enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(
            \.element)
        requests = blocks.filter { $0.hasPrefix("http\n") }.map { block in
            let text = String(block.dropFirst("http\n".count))
            // A request without a body ends with an empty line, which the page does not show.
            return text.contains("\n\n") ? String(text.dropLast()) : text + "\n"
        }
        bases = blocks.filter { $0.hasPrefix("\n\"@method\"") || $0.hasPrefix("\nrunway-digest-1\n") }.map {
            String($0.dropFirst().dropLast())
        }
        try #require(requests.count == 4 && bases.count == 3)
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// A request without the fields that sign it.
    func unsigned(_ index: Int) -> String {
        requests[index].components(separatedBy: "\n").filter { line in
            !["Signature", "Content-Digest", "Runway-"].contains { line.hasPrefix($0) }
        }.joined(separator: "\n")
    }

    /// The lines of fields that sign a request.
    func fields(_ index: Int, _ prefixes: String...) -> String {
        requests[index].components(separatedBy: "\n").filter { line in prefixes.contains { line.hasPrefix($0) } }.map {
            $0 + "\n"
        }.joined()
    }
}

extension URL {
    /// Writes a private file of this folder, and returns its path.
    func privateFile(_ name: String, _ text: String) throws -> String {
        let path = appending(path: name).path
        let isWritten = FileManager.default.createFile(
            atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        try #require(isWritten)
        return path
    }
}
