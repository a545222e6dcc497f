#if Lua
    import Dispatch
    import RunwayLua

    /// A state of Lua 5.4, with at most 16 MB of memory. A function in Lua is stopped within 100 instructions after its
    /// deadline, or before its next call; a function in C ends first, whose time is bounded by that of its texts.
    final class LuaContext: ScriptContext {
        /// The functions that the prelude returns, by their places.
        private enum Entry: CInt {
            case invoke = 1
            case declarations, takeConsole
        }

        private static let maximumByteCount = 16 << 20

        private let lua: OpaquePointer

        /// - Throws: ``ScriptError`` if there is no memory.
        init() throws(ScriptError) {
            let lua = luaPrelude.withCString { runway_lua_create(Self.maximumByteCount, $0, luaPrelude.utf8.count) }
            guard let lua else { throw ScriptError(.unsupported, "Lua does not start") }
            self.lua = lua
        }

        deinit { runway_lua_destroy(lua) }

        func run(_ file: ScriptFile, until deadline: DispatchTime) throws(ScriptError) {
            let status = runway_lua_run(
                lua, file.source, file.source.utf8.count, "@\(file.path)", deadline.uptimeNanoseconds)
            if status != RUNWAY_LUA_OK { throw error(status) }
        }

        func declarations() throws(ScriptError) -> [UInt8] {
            try call(.declarations, 0, [], now: 0, seed: 0, until: .now() + .milliseconds(100))
        }

        func call(
            _ function: Int, _ call: ScriptArguments, until deadline: DispatchTime
        ) throws(ScriptError) -> [UInt8] {
            let bytes = try self.call(
                .invoke, Int64(function), call.values, now: call.now, seed: Int64(call.seed), until: deadline)
            guard bytes.count <= ScriptArguments.maximumResultByteCount else {
                throw ScriptError(
                    .mismatched, "The result has more than \(ScriptArguments.maximumResultByteCount) bytes")
            }
            return bytes
        }

        func takeConsole() -> [UInt8]? {
            try? call(.takeConsole, 0, [], now: 0, seed: 0, until: .now() + .milliseconds(100))
        }

        private func call(
            _ entry: Entry, _ function: Int64, _ input: [UInt8], now: Double, seed: Int64, until deadline: DispatchTime
        ) throws(ScriptError) -> [UInt8] {
            let status = input.withUnsafeBytes { buffer in
                // Without arguments the pointer of an empty array may be none.
                withUnsafePointer(to: CChar(0)) { empty in
                    runway_lua_call(
                        lua, entry.rawValue, function, buffer.assumingMemoryBound(to: CChar.self).baseAddress ?? empty,
                        buffer.count, now, seed, deadline.uptimeNanoseconds)
                }
            }
            if status != RUNWAY_LUA_OK { throw error(status) }
            guard let bytes = result() else { throw ScriptError(.mismatched, "The script returned no value") }
            return bytes
        }

        private func result() -> [UInt8]? {
            var count = 0
            guard let text = runway_lua_result(lua, &count) else { return nil }
            return Array(UnsafeRawBufferPointer(start: text, count: count))
        }

        /// Describes what a script threw; messages of Lua begin with a place, `main.lua:3: `.
        private func error(_ status: runway_lua_status) -> ScriptError {
            if status == RUNWAY_LUA_STOPPED { return .deadlinePassed }
            let message = String(decoding: (result() ?? Array("The script threw".utf8)).prefix(4_096), as: UTF8.self)
            guard let match = message.firstMatch(of: #/^(.{1,1024}?):([0-9]+): /#) else {
                return ScriptError(.threw, message)
            }
            return ScriptError(
                .threw, String(message[match.range.upperBound...]), file: String(match.output.1),
                line: Int(match.output.2))
        }
    }
#endif
