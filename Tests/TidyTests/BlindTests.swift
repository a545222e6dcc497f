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
        Question("a query parameter that cache keys ignore", "Runway/Services/CallContent.swift", "unkeyedParameters"),
        Question("a new place in the pipeline", "Runway/Steps/FlightStep.swift", "static let hedging"),
        Question("the stage at a place", "Runway/DefaultStages.swift", "(.hedging,"),
        Question("a new phase among the times on the wire", "Runway/Events/WireRecord.swift", "static let phases"),
        Question("a renewal of the token at 403, too", "Runway/Pipeline/Verdict.swift", "tokenRefused"),
        Question("the 250 ms of the race", "Runway/Hosts/HostPlan.swift", "milliseconds(250)"),
        Question(
            "another setting of HTTP/2", "RunwayTransport/NIO/HTTP2/HTTP2Connection+Settings.swift", "HTTP2Setting"),
        Question("one more secret header field", "Runway/Events/Redaction.swift", "headerFields"),
        Question("another content coding", "RunwayTransport/Coding/ContentCoding.swift", "gzip"),
        Question("bodies from files in `runway call`", "RunwayCommand/Calling/RequestItem.swift", "@"),
        Question("a new kind of error", "Runway/Errors/NetworkError.swift", "Kind("),
        Question("a disk tier", "Runway/Stages/Reading/CacheTier.swift", "protocol CacheTier"),
        Question("what a cached response is found by", "Runway/Stages/Reading/CacheKey.swift", "struct CacheKey"),
    ]

    @Test(arguments: questions)
    func theArchitecturePageLeadsToTheFile(_ question: Question) throws {
        #expect(try Project.file("Sources/\(question.path)").text.contains(question.mark))
        let parts = question.path.split(separator: "/")
        let type = try #require(parts.last?.split(separator: ".").first)
        // A type at the root of its target is named with the target.
        let folder = "\(parts[parts.count - 2])"
        let lines = try Project.file("ARCHITECTURE.md").lines.filter { $0.contains(type) && $0.contains(folder) }
        #expect(!lines.isEmpty, "no line of ARCHITECTURE.md names \(folder) and \(type)")
    }
}
