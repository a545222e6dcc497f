import Foundation
import RunwayTestServer

/// Programs that nobody of this project wrote.
enum Tool {
    struct Failed: Error {
        let status: Int32
    }

    /// What a program writes when it reads these bytes.
    static func run(_ path: String, _ arguments: [String], _ input: [UInt8]) async throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (read, written) = (folder.appending(path: "input"), folder.appending(path: "output"))
        try Data(input).write(to: read)
        try Data().write(to: written)
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        let streams = try (input: FileHandle(forReadingFrom: read), output: FileHandle(forWritingTo: written))
        // Closed explicitly: on Linux a process that ended retains its streams.
        defer {
            try? streams.input.close()
            try? streams.output.close()
        }
        process.standardInput = streams.input
        process.standardOutput = streams.output
        let status = try await process.runToItsEnd()
        if status != 0 { throw Failed(status: status) }
        return Array(try Data(contentsOf: written))
    }
}
