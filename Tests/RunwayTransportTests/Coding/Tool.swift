import Foundation

/// Programs that nobody of this project wrote.
enum Tool {
    struct Failed: Error {
        let status: Int32
    }

    /// What a program writes when it reads these bytes.
    static func run(_ path: String, _ arguments: [String], _ input: [UInt8]) throws -> [UInt8] {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data(input).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardInput = try FileHandle(forReadingFrom: file)
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw Failed(status: process.terminationStatus) }
        return Array(output)
    }
}
