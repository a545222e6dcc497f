import Foundation
import Testing

/// The questions of a reader who has ARCHITECTURE.md alone: where would I change this?
struct BlindTests {
    /// A question, and the file that it leads to.
    struct Question: Sendable, CustomTestStringConvertible {
        let text: String
        let path: String
        /// What the file has to say.
        let mark: String

        init(_ text: String, _ path: String, _ mark: String) { (self.text, self.path, self.mark) = (text, path, mark) }

        var testDescription: String { text }
    }

    private static let questions = [
        Question("the default retry count", "Runway/Services/Policies/RetryPolicy.swift", "maximumAttempts: Int = 3"),
        Question(
            "a query parameter that cache keys ignore", "Runway/Services/CallContent.swift",
            "settings.unkeyedParameters)"),
        Question("a new place in the pipeline", "Runway/Steps/FlightStep.swift", "static let hedging"),
        Question("the stage at a place", "Runway/DefaultStages.swift", "(.hedging,"),
        Question("a new phase among the times on the wire", "Runway/Events/WireRecord.swift", "static let phases"),
        Question(
            "a renewal of the token at 403, too", "Runway/Pipeline/Verdict.swift", "case 401: self = .tokenRefused"),
        Question(
            "the 250 ms of the race", "Runway/Hosts/HostPlan.swift", "defaultStagger = Duration.milliseconds(250)"),
        Question(
            "another setting that a client of HTTP/2 sends",
            "RunwayTransport/NIO/HTTP2/NIOHTTP2Handler+ClientSettings.swift", "HTTP2Setting(parameter:"),
        Question("one more secret header field", "Runway/Events/Redaction.swift", "static let secretHeaderFields"),
        Question("another content coding", "RunwayTransport/Coding/ContentCoding.swift", "case gzip"),
        Question(
            "values from files in `runway call`", "RunwayCommand/Calling/RequestItem.swift", "memberFile = \"=@\""),
        Question("a body from a file in `runway call`", "RunwayCommand/Calling/CallRequest.swift", "BodyFile(path:"),
        Question("a new kind of error", "Runway/Errors/NetworkError.swift", "static let noNetwork = Kind("),
        Question("a disk tier", "Runway/Stages/Reading/CacheTier.swift", "protocol CacheTier"),
        Question("what a cached response is found by", "Runway/Stages/Reading/CacheKey.swift", "struct CacheKey"),
    ]

    /// A folder of the map, by its path below the root, and what the map writes about it.
    private struct Entry {
        let folder: String
        var text: String
    }

    /// The folders that begin a line of the map, in their order. Indentation puts a folder below the one above it, and a line
    /// without a folder belongs to the entry above.
    private func entries() throws -> [Entry] {
        let lines = try Project.file("ARCHITECTURE.md").lines
        let map = lines.drop { $0 != "```" }.dropFirst().prefix { $0 != "```" }
        var parents: [(indentation: Int, folder: String)] = []
        var entries: [Entry] = []
        for line in map {
            guard let match = line.wholeMatch(of: /( {0,4})([A-Z][\w\/]*\/)( .*)?/) else {
                let last = try #require(entries.indices.last)
                entries[last].text.append(contentsOf: line)
                continue
            }
            let indentation = match.1.count
            parents.removeAll { $0.indentation >= indentation }
            let folder = "\(parents.last?.folder ?? "")\(match.2)"
            parents.append((indentation, folder))
            entries.append(Entry(folder: folder, text: String(match.3 ?? "")))
        }
        return entries
    }

    @Test(arguments: questions)
    func theArchitecturePageLeadsToTheFile(_ question: Question) throws {
        #expect(try Project.file("Sources/\(question.path)").text.contains(question.mark))
        let parts = "Sources/\(question.path)".split(separator: "/")
        let folder = parts.dropLast().map { "\($0)/" }.joined()
        let type = try #require(parts.last?.split(separator: ".").first)
        let found = try entries().first { $0.folder == folder }
        let entry = try #require(found, "the map of ARCHITECTURE.md has no \(folder)")
        let names = entry.text.split { !$0.isLetter && !$0.isNumber && $0 != "+" }
        #expect(names.contains(type), "ARCHITECTURE.md does not name \(type) in \(folder)")
    }

    @Test func everyFolderOfTheMapExists() throws {
        let entries = try entries()
        // A folder that is named in the text of another is inside it, and so has no line of its own.
        let inner = entries.flatMap { entry in
            entry.text.matches(of: /[A-Z][\w\/]*\/(?!\w)/).map { "\(entry.folder)\($0.output)" }
        }
        #expect(entries.count > 40 && inner.count > 10)
        for folder in entries.map(\.folder) + inner {
            let values = try? Project.root.appending(path: folder).resourceValues(forKeys: [.isDirectoryKey])
            #expect(values?.isDirectory == true, "there is no \(folder)")
        }
    }
}
