import Foundation
import Testing

/// A `runway proxy` that runs while a test looks at it.
struct RunningProxy {
    let url: String
    let port: Int
    let processIdentifier: Int32

    /// Its peak memory so far, in bytes; `nil` if the system does not report it.
    var peakMemory: Int? {
        guard let status = try? String(contentsOfFile: "/proc/\(processIdentifier)/status", encoding: .utf8),
            let match = status.firstMatch(of: /VmHWM:\s+(\d+) kB/), let kilobytes = Int(match.1)
        else { return nil }
        return kilobytes << 10
    }
}

/// Runs a proxy to an origin while `body` runs; returns its output, and its exit code after a signal.
func proxying(
    to origin: String, _ arguments: String..., signal: Int32 = SIGINT, _ body: (RunningProxy) async throws -> Void
) async throws -> (output: String, status: Int32) {
    try await proxying(["--origin", origin] + arguments, signal: signal, body)
}

/// Runs a forward proxy while `body` runs; returns its output, and its exit code after a signal.
func forwarding(
    _ arguments: String..., body: (RunningProxy) async throws -> Void
) async throws -> (output: String, status: Int32) {
    try await proxying(arguments, signal: SIGINT, body)
}

private func proxying(
    _ arguments: [String], signal: Int32, _ body: (RunningProxy) async throws -> Void
) async throws -> (output: String, status: Int32) {
    let tool = try RunningTool(["proxy"] + arguments, streams: .pipe, environment: [:])
    let greeting = try await tool.wait(for: "\n")
    let match = try #require(greeting.firstMatch(of: /Listening at (\S+:(\d+)) for/))
    try await body(
        RunningProxy(
            url: String(match.1), port: try #require(Int(match.2)), processIdentifier: tool.processIdentifier))
    tool.signal(signal)
    let status = await tool.end()
    return (tool.output, status)
}

/// Runs the system's curl.
func curl(_ arguments: String...) async throws -> Tool {
    try await Tool.run(
        "/usr/bin/env", ["curl", "--silent", "--noproxy", ""] + arguments, input: [], environment: [:])
}

/// The response of a URL to the system's curl, parsed.
func fetch(_ url: String, _ arguments: String...) async throws -> CurlResponse {
    let tool = try await Tool.run(
        "/usr/bin/env", ["curl", "--silent", "--noproxy", "", "--include"] + arguments + [url], input: [],
        environment: [:])
    return try CurlResponse(tool)
}

/// A response as `curl --include` writes it; interim responses are left out.
struct CurlResponse {
    let status: Int
    /// The header fields in their order.
    let fields: [(name: String, value: String)]
    let body: [UInt8]
    /// How many interim responses preceded it.
    let interimCount: Int
    let exitCode: Int32

    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }

    init(_ tool: Tool) throws {
        var rest = tool.bytes[...]
        var interimCount = 0
        while true {
            let end = try #require(rest.firstRange(of: Array("\r\n\r\n".utf8)), "exit code \(tool.status)")
            let lines = String(decoding: rest[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
            rest = rest[end.upperBound...]
            let status = try #require(lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) })
            if status < 200 {
                interimCount += 1
                continue
            }
            self.status = status
            fields = lines.dropFirst().map { line in
                let parts = line.split(separator: ":", maxSplits: 1).map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
                return (parts[0], parts.count > 1 ? parts[1] : "")
            }
            break
        }
        body = Array(rest)
        self.interimCount = interimCount
        exitCode = tool.status
    }

    /// The values of every field of a name, in whatever case it is written.
    func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// The value of the first field of a name.
    subscript(_ name: String) -> String? { values(of: name).first }
}
