#if JavaScript
    /// Runs in each context before any script.
    ///
    /// It removes all globals that are not listed, since engines add some: `Atomics.wait` would block the thread, and
    /// `eval` and `Function` would run text that nobody signed. It declares the functions that scripts use, and returns
    /// to the host the functions that it calls. Its own functions call nothing that a script can replace.
    let javaScriptPrelude = """
        (() => {
        "use strict"
        const { parse, stringify } = JSON, { apply, construct, ownKeys, setPrototypeOf } = Reflect, { imul } = Math
        const NativeDate = globalThis.Date, NativeError = TypeError, text = String, { substring } = String.prototype
        const allowed = ["Array", "ArrayBuffer", "BigInt", "BigInt64Array", "BigUint64Array", "Boolean", "DataView",
            "Error", "EvalError", "Float32Array", "Float64Array", "Infinity", "Int16Array", "Int32Array", "Int8Array",
            "Intl", "Iterator", "JSON", "Map", "Math", "NaN", "Number", "Object", "Proxy", "RangeError",
            "ReferenceError", "Reflect", "RegExp", "Set", "String", "Symbol", "SyntaxError", "TypeError", "URIError",
            "Uint16Array", "Uint32Array", "Uint8Array", "Uint8ClampedArray", "WeakMap", "WeakSet", "decodeURI",
            "decodeURIComponent", "encodeURI", "encodeURIComponent", "globalThis", "isFinite", "isNaN", "parseFloat",
            "parseInt", "undefined"]
        for (const name of ownKeys(globalThis)) {
            if (!allowed.includes(name) && !delete globalThis[name]) throw new NativeError(`${text(name)} stays`)
        }
        for (const f of [function () {}, function* () {}, async () => {}, async function* () {}]) {
            delete Object.getPrototypeOf(f).constructor
        }
        delete Object.getPrototypeOf((async () => {})()).constructor

        // It would read the clock of the system.
        delete globalThis.Intl?.DateTimeFormat
        let now = 0, seed = 1
        function Date(...parts) {
            if (!new.target) return text(new NativeDate(now))
            return construct(NativeDate, parts.length ? parts : [now], new.target)
        }
        Date.prototype = NativeDate.prototype
        Date.prototype.constructor = Date
        Date.parse = NativeDate.parse
        Date.UTC = NativeDate.UTC
        Date.now = () => now
        // Mulberry32: a sequence of 2^32 numbers, the same on every engine.
        const draw = () => {
            seed = (seed + 0x6D2B79F5) | 0
            let z = imul(seed ^ (seed >>> 15), 1 | seed)
            z = (z + imul(z ^ (z >>> 7), 61 | z)) ^ z
            return (z ^ (z >>> 14)) >>> 0
        }
        Math.random = () => ((draw() >>> 6) * 0x8000000 + (draw() >>> 5)) / 0x20000000000000

        // Without prototypes, which a script can change.
        const declarations = [], functions = [], lines = [], names = { __proto__: null }
        for (const list of [declarations, functions, lines]) setPrototypeOf(list, null)
        let isLoading = true
        const declare = (kind, name, version, body) => {
            const key = `${kind} ${name}`
            if (!isLoading) throw new NativeError(`${key} is declared after the script has run`)
            if (typeof name !== "string" || typeof version !== "number" || typeof body !== "function") {
                throw new NativeError(`${kind} needs a name${kind === "patch" ? ", a version" : ""} and a function`)
            }
            if (key in names) throw new NativeError(`${key} is declared twice`)
            names[key] = true
            const declaration = [kind, name, version]
            setPrototypeOf(declaration, null)
            declarations[functions.length] = declaration
            functions[functions.length] = body
        }
        let lineCount = 0
        const log = level => (...values) => {
            let line = level
            for (let i = 0; i < values.length && line.length < 1024; i++) {
                const value = values[i]
                line += " " + (typeof value === "object" && value ? stringify(value) : text(value))
            }
            if (lineCount < 64) lines[lineCount++] = apply(substring, line, [0, 1024])
        }
        const globals = {
            Date,
            patch: (name, version, body) => declare("patch", name, version, body),
            on: (name, body) => declare("on", name, 0, body),
            view: (name, body) => declare("view", name, 0, body),
            console: { debug: log("debug"), log: log("log"), info: log("info"), warn: log("warn"), error: log("error") },
        }
        for (const name of ownKeys(globals)) {
            Object.defineProperty(globalThis, name, { value: globals[name], writable: true, configurable: true })
        }
        return [
            lines,
            (index, input, time, number) => {
                now = time
                seed = number
                return stringify(apply(functions[index], undefined, parse(input)))
            },
            () => {
                isLoading = false
                return stringify(declarations)
            },
            () => {
                const taken = stringify(lines)
                lines.length = lineCount = 0
                return taken
            },
        ]
        })()
        """
#endif
