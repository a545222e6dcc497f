import Foundation

/// A process that reads lines, writes lines, and ends when its input does. It ends with this process, too.
final class ChildProcess {
    private let process = Process()
    private let input = Pipe()
    private let output: AsyncStream<String>

    /// Its number, by which the system knows it.
    var identifier: Int32 { process.processIdentifier }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: The file of the program. The default, `nil`, is that of this process.
    ///   - arguments: The arguments of the program.
    init(_ program: String? = nil, _ arguments: [String]) throws {
        let pipe = Pipe()
        output = lines(of: pipe.fileHandleForReading)
        process.executableURL = program.map { URL(filePath: $0) } ?? Bundle.main.executableURL
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = pipe
        try process.run()
    }

    /// Writes an empty line to its input.
    func writeLine() throws { try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8)) }

    /// Waits for the next line of its output; returns `nil` if it ends without one.
    func nextLine() async -> String? { await output.first { _ in true } }

    /// Ends its input, and waits until it has ended.
    ///
    /// - Returns: The last line that it has written since the last call of ``nextLine()``.
    @discardableResult
    func end() async throws -> String? {
        try input.fileHandleForWriting.close()
        var last: String?
        for await line in output { last = line }
        return last
    }
}

/// Reads lines until the end, on a thread of its own, since a read waits for as long as the writer likes.
func lines(of file: FileHandle) -> AsyncStream<String> {
    let (lines, continuation) = AsyncStream<String>.makeStream()
    Thread.detachNewThread {
        var rest: [UInt8] = []
        while case let bytes = file.availableData, !bytes.isEmpty {
            rest += bytes
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
                rest.removeSubrange(...end)
            }
        }
        continuation.finish()
    }
    return lines
}
