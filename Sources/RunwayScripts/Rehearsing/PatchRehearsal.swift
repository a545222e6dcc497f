/// The outcome of recorded calls that ran through scripts: what differs from the native functions.
///
/// ``ScriptRuntime/rehearse(_:endpoints:)`` creates it.
public struct PatchRehearsal: Sendable {
    /// A place where the results of the script and of the native function differ.
    public struct Difference: Sendable, Equatable, Encodable {
        /// The path in the result, such as `items[3].title`; `$` for the whole result.
        public let path: String
        /// The native function's value as JSON, at most about 120 bytes; `nothing` if it has none.
        public let expected: String
        /// The script's value, in the same form.
        public let actual: String
    }

    /// The outcome of one recorded call.
    public struct Call: Sendable, CustomStringConvertible {
        /// Kinds of outcomes. Later versions may add kinds, so a switch needs a `default`.
        public struct Kind: Sendable, Hashable, CustomStringConvertible {
            private enum Code: String { case equal, different, failed, notPatched }

            private let code: Code

            private init(_ code: Code) { self.code = code }

            /// The script's result is the native function's.
            public static let equal = Kind(.equal)
            /// The results differ; see ``PatchRehearsal/Call/differences``.
            public static let different = Kind(.different)
            /// The script threw, was too slow or returned a value of another type; see ``PatchRehearsal/Call/error``.
            public static let failed = Kind(.failed)
            /// No loaded script patches this version of the point.
            public static let notPatched = Kind(.notPatched)

            /// The kind in one word. It does not change between releases.
            public var description: String { code.rawValue }
        }

        /// The line of the file, from 1.
        public let line: Int
        /// The name of the point, or of the reformer's type.
        public let point: String
        /// The version of the point.
        public let version: Int
        /// The kind of the outcome.
        public let kind: Kind
        /// The first places that differ, at most 8; empty unless the kind is `different`.
        public let differences: [Difference]
        /// The reason, with file and line, if the kind is `failed`. Its kinds are `threw`, `deadlinePassed`,
        /// `mismatched`, and `busy` or `off` if an earlier call has not ended.
        public let error: ScriptError?
        /// The time of the native function; `nil` if the recorded result was used.
        public let nativeTime: Duration?
        /// The time from the call of the script to its result, encoded arguments and result included; `nil` if it has
        /// none.
        public let patchedTime: Duration?

        init(
            _ call: RecordedCalls.Call, _ kind: Kind, differences: [Difference] = [], error: ScriptError? = nil,
            nativeTime: Duration? = nil, patchedTime: Duration? = nil
        ) {
            (line, point, version, self.kind) = (call.line, call.point, call.version, kind)
            (self.differences, self.error) = (differences, error)
            (self.nativeTime, self.patchedTime) = (nativeTime, patchedTime)
        }

        /// One line, with the first difference.
        public var description: String {
            let more = differences.count > 1 ? ", and \(differences.count - 1) other differences" : ""
            let first = differences.first.map { "\($0.path) is \($0.actual) instead of \($0.expected)\(more)" }
            return "line \(line), \(point) \(version): \(first ?? error.map { "\($0)" } ?? "\(kind)")"
        }
    }

    /// The calls in the order of the file.
    public let calls: [Call]
    /// The patches without a recorded call, such as `orders.rows 3`, which nothing has tested.
    public let untestedPatches: [String]

    /// Whether a script was called, and each script had the result of the native function.
    public var isEqual: Bool {
        calls.contains { $0.kind == .equal } && calls.allSatisfy { $0.kind == .equal || $0.kind == .notPatched }
    }
}
