import Dispatch
import Foundation
import RunwayJavaScript
import Synchronization

@testable import RunwayScripts

/// Prints what points and scripts cost, and exits with 1 if a target is missed.
@main struct ScriptsBenchmark {
    /// The best of some short rounds, in nanoseconds a call: other programs interrupt long ones.
    static func best(rounds: Int = 400, calls: Int, _ body: () throws -> Void) rethrows -> Double {
        var best = UInt64.max
        for _ in 1...rounds {
            let begin = DispatchTime.now().uptimeNanoseconds
            for _ in 1...calls { try body() }
            best = min(best, DispatchTime.now().uptimeNanoseconds - begin)
        }
        return Double(best) / Double(calls)
    }

    nonisolated(unsafe) static var isMissed = false
    /// Where results go, so that no call is left out.
    nonisolated(unsafe) static var sum = 0

    static func report(_ name: String, _ nanoseconds: Double, atMost target: Double? = nil) {
        let isMissed = target.map { nanoseconds > $0 } ?? false
        let limit = target.map { "   target \(Int($0)) ns\(isMissed ? ", MISSED" : "")" } ?? ""
        print(name.padding(toLength: 46, withPad: " ", startingAt: 0), "\(Int(nanoseconds.rounded())) ns\(limit)")
        if isMissed { Self.isMissed = true }
    }

    /// Reports the median, for which the target is, and the greatest time, in which other programs have their part.
    static func reportLate(_ name: String, _ times: [Double], atMost target: Double) {
        let sorted = times.sorted()
        report("\(name), median of \(sorted.count)", sorted[sorted.count / 2], atMost: target)
        report("\(name), greatest", sorted[sorted.count - 1])
    }

    static let script = """
        patch("one", 1, n => n + 1)
        patch("rows", 1, listing => listing.items.map(item => ({ title: item.name, price: `${item.price} €` })))
        patch("loop", 1, n => { while (true) {} })
        """
    static let bareScript = """
        (text => JSON.stringify(JSON.parse(text).items.map(item => ({ title: item.name, price: `${item.price} €` }))))
        """
    static let items = (1...30).map { #"{"name":"Loft \#($0)","price":\#($0 * 100),"city":"Shanghai"}"# }
    static let listing = Array(#"{"items":[\#(items.joined(separator: ","))]}"#.utf8)

    static func main() async throws {
        let isJIT = !CommandLine.arguments.contains("--no-jit")
        print(isJIT ? "With just-in-time compilation" : "Without just-in-time compilation")
        let point = PatchPoint("one", version: 1) { (number: Int) in number &+ 1 }
        report("unpatched point", best(calls: 10_000) { sum &+= point(sum) }, atMost: 20)
        // The first one sets options of the engine, which nothing can change later.
        _ = try JavaScriptContext()
        for isLimited in [false, true] { try bareFunctions(isLimited: isLimited) }
        try engines(isJIT)
        try await runtime(point, isJIT)
        exit(isMissed ? 1 : 0)
    }

    /// The C functions alone: a function of a number, and a number and 30 rows as text in and out.
    ///
    /// - Parameter isLimited: Whether the engine's limit of time is on, as for scripts.
    private static func bareFunctions(isLimited: Bool) throws {
        let group = JSContextGroupCreate()
        if isLimited { JSContextGroupSetExecutionTimeLimit(group, 0.004, { _, _ in false }, nil) }
        let limit = isLimited ? ", limited" : ""
        let context = JSGlobalContextCreateInGroup(group, nil)
        func function(_ source: String) -> JSObjectRef? {
            let text = JSStringCreateWithUTF8CString(source)
            defer { JSStringRelease(text) }
            let object = JSValueToObject(context, JSEvaluateScript(context, text, nil, nil, 1, nil), nil)
            JSValueProtect(context, object)
            return object
        }
        let one = function("(n => n + 1)")
        report(
            "JSObjectCallAsFunction, a number\(limit)",
            best(calls: 100) {
                let arguments = [JSValueMakeNumber(context, 1)]
                let value = JSObjectCallAsFunction(context, one, nil, 1, arguments, nil)
                sum &+= Int(JSValueToNumber(context, value, nil))
            })
        func call(_ function: JSObjectRef?, with zeroed: [UInt8]) {
            let text = zeroed.withUnsafeBufferPointer { bytes in
                bytes.withMemoryRebound(to: CChar.self) { JSStringCreateWithUTF8CString($0.baseAddress) }
            }
            let arguments = [JSValueMakeString(context, text)]
            let value = JSObjectCallAsFunction(context, function, nil, 1, arguments, nil)
            let result = JSValueToStringCopy(context, value, nil)
            let count = JSStringGetMaximumUTF8CStringSize(result)
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
                length = buffer.withMemoryRebound(to: CChar.self) {
                    JSStringGetUTF8CString(result, $0.baseAddress, count)
                }
            }
            sum &+= bytes.count
            JSStringRelease(text)
            JSStringRelease(result)
        }
        let (number, numberText) = (function("(text => JSON.stringify(JSON.parse(text)[0] + 1))"), Array("[1]\0".utf8))
        report("C functions, a number as text\(limit)", best(calls: 100) { call(number, with: numberText) })
        let (rows, rowsText) = (function(bareScript), listing + [0])
        report("C functions, 30 rows as text\(limit)", best(calls: 5) { call(rows, with: rowsText) })
    }

    private static func engines(_ isJIT: Bool) throws {
        let context = try JavaScriptContext()
        try context.run(ScriptFile("main.js", script), until: .distantFuture)
        let one = ScriptArguments([Array("1".utf8)], now: 1, seed: 1)
        report(
            "JavaScript, a call",
            try best(calls: 100) { sum &+= try context.call(0, one, until: .distantFuture).count }, atMost: 1_000)
        let rows = ScriptArguments([listing], now: 1, seed: 1)
        report(
            "JavaScript, 30 rows",
            try best(calls: 5) { sum &+= try context.call(1, rows, until: .distantFuture).count },
            atMost: isJIT ? nil : 50_000)
        let lua = try LuaContext()
        try lua.run(
            ScriptFile(
                "main.lua",
                """
                patch("one", 1, function(n) return n + 1 end)
                patch("rows", 1, function(listing)
                    local rows = array {}
                    for i, item in ipairs(listing.items) do rows[i] = { title = item.name, price = item.price .. " €" } end
                    return rows
                end)
                """), until: .distantFuture)
        report("Lua, a call", try best(calls: 100) { sum &+= try lua.call(0, one, until: .distantFuture).count })
        report(
            "Lua, 30 rows",
            try best(rounds: 200, calls: 2) { sum &+= try lua.call(1, rows, until: .distantFuture).count })
        for (name, context) in [("JavaScript", context as any ScriptContext), ("Lua", lua)] {
            var late: [Double] = []
            for _ in 1...20 {
                let deadline = DispatchTime.now() + .milliseconds(8)
                do throws(ScriptError) {
                    if name == "Lua" {
                        try context.run(ScriptFile("loop.lua", "while true do end"), until: deadline)
                    } else {
                        sum &+= try context.call(2, one, until: deadline).count
                    }
                } catch {
                    let now = DispatchTime.now().uptimeNanoseconds
                    if error.kind == .deadlinePassed { late.append(Double(now - deadline.uptimeNanoseconds)) }
                }
            }
            reportLate("\(name), a loop stopped late", late, atMost: 10_000_000)
        }
    }

    private static func runtime(_ point: PatchPoint<Int, Int, Never>, _ isJIT: Bool) async throws {
        let marker = FileManager.default.temporaryDirectory.appending(path: "marker-\(UUID())")
        defer { try? FileManager.default.removeItem(at: marker) }
        var deadlines = ScriptDeadlines()
        deadlines.loading = .seconds(60)
        let runtime = try ScriptRuntime(marker: marker, build: "1", deadlines: deadlines) { _ in }
        runtime.open(point)
        let bundle = ScriptBundle(verified: "shop", version: "1", runtime: "1", files: [ScriptFile("main.js", script)])
        try await runtime.load(bundle)
        guard let script = runtime.state.withLock({ $0.scripts["shop"] }) else { exit(1) }
        let key = PointKey(kind: .patch, name: "one")
        report(
            "JavaScript, a call with its hop",
            best(calls: 5) { sum &+= runtime.call(key, of: script, [Array("1".utf8)])?.count ?? 0 }, atMost: 10_000)
        report("patched point, with Codable", best(calls: 5) { sum &+= point(1) })
        var late: [Double] = []
        for _ in 1...20 {
            let begin = DispatchTime.now()
            do throws(ScriptError) {
                sum &+= try runtime.thread.perform(for: script.owner, within: .milliseconds(8)) {
                    (contexts, deadline) throws(ScriptError) in
                    try contexts[script.context]?.call(
                        2, ScriptArguments([Array("1".utf8)], now: 1, seed: 1), until: deadline) ?? []
                }.count
            } catch {
                if error.kind == .deadlinePassed {
                    late.append(Double(DispatchTime.now().uptimeNanoseconds - begin.uptimeNanoseconds) - 8_000_000)
                }
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        reportLate("caller back after its deadline", late, atMost: 2_000_000)
    }
}
