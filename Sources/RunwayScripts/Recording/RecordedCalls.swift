import RunwayJSON

/// Calls of native functions that a ``ScriptRuntime`` has recorded, to rehearse a patch with.
///
/// ```swift
/// let records = RecordedCalls(Array(try Data(contentsOf: file)))
/// ```
///
/// The lines contain what people wrote. Treat the file like their mail: it belongs neither into a repository nor into a
/// report of an error.
public struct RecordedCalls: Sendable {
    struct Call: Sendable {
        /// The number of the line, from 1.
        let line: Int
        let point: String
        let version: Int
        /// Milliseconds since 1970.
        let now: Double
        /// Each argument as JSON.
        let arguments: [[UInt8]]
        let result: NativeResult
    }

    let calls: [Call]
    /// The number of lines that can't be read, such as one that was torn when the process ended. They are skipped.
    public let damagedLineCount: Int
    /// The number of calls that were left out: they were too large, could not be encoded, or came faster than the disk
    /// took them.
    public let omittedCount: Int
    /// Whether a limit of the file was reached, so that later calls are missing.
    public let isFull: Bool

    /// The number of calls.
    public var count: Int { calls.count }

    /// Reads the bytes of a file. Each line counts for itself, so that a damaged one costs no other.
    public init(_ bytes: [UInt8]) {
        var (calls, damagedLineCount, omittedCount, isFull) = ([Call](), 0, 0, false)
        var (rest, number) = (bytes[...], 0)
        while !rest.isEmpty {
            let line = rest.prefix { $0 != 0x0A }
            rest = rest[line.endIndex...].dropFirst()
            number += 1
            if line.isEmpty { continue }
            do throws(JSONError) {
                let root = try JSONDocument(Array(line)).root
                if root["full"].bool == true {
                    isFull = true
                } else {
                    calls.append(try Call(root, line: number))
                    omittedCount = omittedCount.addingReportingOverflow(max(root["omitted"].int ?? 0, 0)).partialValue
                }
            } catch {
                damagedLineCount += 1
            }
        }
        self.calls = calls
        self.damagedLineCount = damagedLineCount
        self.omittedCount = omittedCount
        self.isFull = isFull
    }
}

extension RecordedCalls.Call {
    fileprivate init(_ root: JSONValue, line: Int) throws(JSONError) {
        self.line = line
        point = try root["point"].require()
        version = try root["version"].require()
        now = try root["now"].require()
        guard root["arguments"].kind == .array else {
            throw JSONError(kind: .typeMismatch, path: "arguments", found: "\(root["arguments"].kind)")
        }
        arguments = root["arguments"].elements.map { Array($0.rawBytes) }
        let result = root["result"]
        self.result = result.exists ? .returned(Array(result.rawBytes)) : .threw(try root["threw"].require())
    }
}
