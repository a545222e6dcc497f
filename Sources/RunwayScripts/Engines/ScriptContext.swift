import Dispatch

/// The interpreter of one bundle's scripts, with their global state. Used on the thread of the scripts only.
///
/// Scripts reach nothing outside: arguments and results are JSON, and there is no function of the host in an
/// interpreter.
protocol ScriptContext: AnyObject {
    /// Runs a file, which declares functions.
    func run(_ file: ScriptFile, until deadline: DispatchTime) throws(ScriptError)

    /// The declared functions, as a JSON array of kind, name and version each. Their places are their numbers.
    func declarations() throws(ScriptError) -> [UInt8]

    /// Calls a declared function with a JSON array of arguments. Returns its result as JSON.
    func call(_ function: Int, _ call: ScriptArguments, until deadline: DispatchTime) throws(ScriptError) -> [UInt8]

    /// Removes and returns what was written to the console, as a JSON array of lines; `nil` if nothing was.
    func takeConsole() -> [UInt8]?
}

/// The arguments of a call, and all that a script sees of time and chance.
struct ScriptArguments: Sendable {
    /// A JSON array.
    let values: [UInt8]
    /// Milliseconds since 1970.
    let now: Double
    let seed: UInt32

    /// The largest result in bytes.
    static let maximumResultByteCount = 4 << 20
    /// The largest result in bytes for a caller on the main thread, which decodes it there after the deadline.
    static let maximumMainResultByteCount = 64 << 10

    init(_ values: [[UInt8]], now: Double, seed: UInt32) {
        self.values = [UInt8(ascii: "[")] + values.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
        self.now = now
        self.seed = seed
    }
}

/// A language of scripts, by the suffix of their files.
enum ScriptLanguage: String, Sendable {
    case javaScript = ".js"
    case lua = ".lua"

    init?(path: String) {
        guard let language = [Self.javaScript, .lua].first(where: { path.hasSuffix($0.rawValue) }) else { return nil }
        self = language
    }

    /// Creates an interpreter.
    ///
    /// - Throws: ``ScriptError/Kind/unsupported`` if the package is built without it.
    func makeContext() throws(ScriptError) -> any ScriptContext {
        switch self {
        case .javaScript:
            #if JavaScript
                return try JavaScriptContext()
            #else
                throw ScriptError(.unsupported, "Build with the package trait Scripts to run JavaScript")
            #endif
        case .lua:
            #if Lua
                return try LuaContext()
            #else
                throw ScriptError(.unsupported, "Build with the package trait Lua to run Lua")
            #endif
        }
    }
}
