import Dispatch
import RunwayJSON
import Synchronization

/// A record of what became of a script: each failure, each closed point, each line of the console.
public struct ScriptRecord: Sendable, CustomStringConvertible {
    /// Kinds of records. Later versions may add kinds, so a switch needs a `default`.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        private enum Code: String { case loaded, failed, closed, condemned, console }

        private let code: Code

        private init(_ code: Code) { self.code = code }

        /// The bundle's scripts were loaded.
        public static let loaded = Kind(.loaded)
        /// A script could not be loaded, or a call of it had no usable result; see ``ScriptRecord/error``.
        public static let failed = Kind(.failed)
        /// The third failure of a function: it is not called again before the process ends.
        public static let closed = Kind(.closed)
        /// A script has not ended. Its bundle never runs again with this runtime version and build of the app.
        public static let condemned = Kind(.condemned)
        /// A line of the script's console.
        public static let console = Kind(.console)

        /// The kind in one word. It does not change between releases.
        public var description: String { code.rawValue }
    }

    /// The kind of the record.
    public let kind: Kind
    /// The name and the version of the bundle, such as `shop@7`.
    public let bundle: String
    /// The kind and the name of the script's function, such as `patch orders.rows`; empty if the record is about all.
    public let function: String
    /// The reason of a failure; otherwise `nil`.
    public let error: ScriptError?
    /// A line of the console without the values of secret names, at most 1,024 bytes; otherwise empty.
    public let text: String

    init(_ kind: Kind, bundle: String, function: String = "", error: ScriptError? = nil, text: String = "") {
        self.kind = kind
        self.bundle = bundle
        self.function = function
        self.error = error
        self.text = text
    }

    /// One line.
    public var description: String {
        [bundle, function, "\(kind)", error.map { "\($0)" } ?? "", text].filter { !$0.isEmpty }.joined(separator: " ")
    }
}

/// Delivers records in order, on a queue of its own, so that no receiver delays a script or a caller.
final class ScriptRecorder: Sendable {
    /// The most records that wait for the receiver. More are dropped.
    static let maximumPending = 1_024

    private let queue = DispatchQueue(label: "runway.scripts.records")
    private let pending = Atomic(0)
    private let redaction: JSONRedaction
    private let receive: @Sendable (ScriptRecord) -> Void

    init(redaction: JSONRedaction, receive: @escaping @Sendable (ScriptRecord) -> Void) {
        self.redaction = redaction
        self.receive = receive
    }

    /// Records the lines that a context has collected.
    func recordConsole(_ lines: [UInt8]?, bundle: String, function: PointKey?) {
        guard let lines, let document = try? JSONDocument(lines) else { return }
        for line in document.root.elements {
            record(
                ScriptRecord(
                    .console, bundle: bundle, function: function?.description ?? "", text: line.string ?? ""))
        }
    }

    /// Removes secrets from an error, and bounds its message.
    func redacted(_ error: ScriptError) -> ScriptError {
        ScriptError(error.kind, redacted(error.message), file: error.file, line: error.line)
    }

    private func redacted(_ text: String) -> String {
        redaction.redactedText(of: text.utf8, maximumByteCount: ScriptError.maximumMessageByteCount)
    }

    func record(_ record: ScriptRecord) {
        guard pending.wrappingAdd(1, ordering: .relaxed).newValue <= Self.maximumPending else {
            pending.wrappingSubtract(1, ordering: .relaxed)
            return
        }
        let redactedRecord = ScriptRecord(
            record.kind, bundle: record.bundle, function: record.function, error: record.error.map(redacted),
            text: redacted(record.text))
        queue.async { [self] in
            receive(redactedRecord)
            pending.wrappingSubtract(1, ordering: .relaxed)
        }
    }
}
