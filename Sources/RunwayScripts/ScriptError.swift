/// An error of the runtime of scripts, or of a script that can't be loaded.
public struct ScriptError: Error, Sendable, CustomStringConvertible {
    /// Kinds of errors. Later versions may add kinds, so a switch needs a `default`.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        private enum Code: String {
            case markerInUse, markerUnusable, condemned, unsupported, busy, off, threw, mismatched, deadlinePassed
            case recordsUnusable
        }

        private let code: Code

        private init(_ code: Code) { self.code = code }

        /// Another process or runtime uses the marker file.
        public static let markerInUse = Kind(.markerInUse)
        /// The marker file can't be opened, written or mapped.
        public static let markerUnusable = Kind(.markerUnusable)
        /// A script of the bundle ended the process or did not end, with the same runtime version and build of the app.
        public static let condemned = Kind(.condemned)
        /// The package is built without an engine for the file, the bundle has too many or too large files, or the app
        /// has used JavaScriptCore on Linux before without `JSC_usePollingTraps=1` in its environment.
        public static let unsupported = Kind(.unsupported)
        /// Another call has the thread of the scripts.
        public static let busy = Kind(.busy)
        /// Scripts are off until the process ends, since one of them did not end.
        public static let off = Kind(.off)
        /// The script threw, or can't be read, or declares a function that it can't.
        public static let threw = Kind(.threw)
        /// The script returned a value that the app can't use.
        public static let mismatched = Kind(.mismatched)
        /// The script was slower than its deadline.
        public static let deadlinePassed = Kind(.deadlinePassed)
        /// The file of recorded calls can't be opened or locked, or another runtime has it.
        public static let recordsUnusable = Kind(.recordsUnusable)

        /// The kind in one word. It does not change between releases.
        public var description: String { code.rawValue }
    }

    /// The kind of the error.
    public let kind: Kind
    /// One sentence, without the values of secret names, of at most 1,024 bytes.
    public let message: String
    /// The file of the bundle; `nil` if the error has no place in a script.
    public let file: String?
    /// The line of ``file``, counted from 1; `nil` if it is unknown.
    public let line: Int?

    /// The largest number of bytes of a message before its end is cut off.
    static let maximumMessageByteCount = 1_024

    init(_ kind: Kind, _ message: String, file: String? = nil, line: Int? = nil) {
        self.kind = kind
        self.message = message
        self.file = file
        self.line = line
    }

    /// The kind, the message and the place.
    public var description: String {
        let place = [file, line.map(String.init)].compactMap(\.self).joined(separator: ":")
        return "\(kind): \(message)" + (place.isEmpty ? "" : " (\(place))")
    }
}
