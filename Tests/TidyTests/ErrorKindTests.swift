import Runway
import Testing

/// A new kind of error is decided in few files: see `Sources/Runway/Errors/NetworkError+Kind.swift`.
struct ErrorKindTests {
    /// Files that may decide about any number of kinds.
    private static let decidingFiles: Set = [
        "Sources/Runway/Errors/Outlook.swift",
        // It has the names of RFC 9209 for what a proxy reports.
        "Sources/RunwayCommand/Proxying/Refusal.swift",
    ]

    /// The kinds that a file compares an error's kind with, in conditions and in switches over it.
    static func kinds(comparedIn text: String) -> Set<String> {
        var found: Set<String> = []
        func add(_ names: Substring) {
            found.formUnion(names.matches(of: /\.(\w+)/).map { String($0.output.1) })
        }
        for match in text.matches(of: /\bkind\)? (?:==|!=) (\.\w+)/.wordBoundaryKind(.simple)) { add(match.output.1) }
        for match in text.matches(of: /\[((?:\.\w+(?:, )?)+)\]\s*\.contains\([^)\n]*\bkind\)/.wordBoundaryKind(.simple))
        { add(match.output.1) }
        var switches: [Substring] = []
        for line in text.split(separator: "\n") {
            let indent = line.prefix { $0 == " " }
            if line.dropFirst(indent.count).hasPrefix("//") { continue }
            if let last = switches.last, line.hasPrefix("\(last)}") { switches.removeLast() }
            if line.contains(/switch [^{]*\bkind\b[^{]*\{$/.wordBoundaryKind(.simple)) {
                switches.append(indent)
            } else if switches.last == indent, let labels = line.firstMatch(of: /case (\..*?)(?: where |:|$)/) {
                add(labels.output.1)
            }
        }
        return found.intersection(NetworkError.Kind.all.map(\.name))
    }

    @Test func comparedKindsAreFound() {
        let text = """
            if error.kind == .cancelled || (error.kind) != .queued { return }
            let isLost = [.noNetwork, .timedOut].contains(error.kind)
            switch error?.kind {
            case .refused where status == .ok, .service: a()
            case .storage:
                switch other { case .overloaded: b() }
            default: c()
            }
            switch end { case .unavailable: d() }
            """
        #expect(
            Self.kinds(comparedIn: text) == ["cancelled", "queued", "noNetwork", "timedOut", "refused", "storage"])
    }

    @Test func fewFilesDecideAboutKindsOfErrors() throws {
        for file in try Project.files(in: "Sources", endingIn: [".swift"]) {
            // The demo is an app, which shows its users what the kind is.
            if Self.decidingFiles.contains(file.path) || file.path.hasPrefix("Sources/RunwayDemo/") { continue }
            let kinds = Self.kinds(comparedIn: file.text).sorted()
            #expect(kinds.count <= 2, "\(file.path) decides about \(kinds): ask NetworkError.outlook")
        }
    }
}
