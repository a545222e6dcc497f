#if JavaScript
    import Dispatch
    import RunwayJavaScript

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// Passed to the function that stops scripts.
    struct ScriptWatch {
        let group: JSContextGroupRef
        /// The time at which a script is stopped.
        var deadline = DispatchTime.distantFuture {
            didSet { checkCount = 0 }
        }
        /// How often the engine has asked since the deadline was set.
        var checkCount = 0
    }

    #if !canImport(Darwin)
        /// How often a running script is asked for its deadline, in seconds of the processor's time.
        private let stopInterval = 0.004

        /// Whether compiled loops ask by themselves if a script is over.
        ///
        /// By default the engine interrupts them with a signal to their thread: a loop that has been stopped a few
        /// times is then never stopped again, and sending the signal may abort the process. The engine reads the
        /// environment when it starts: `false` if the process started it earlier without the variable.
        private let compiledLoopsAsk: Bool = {
            setenv("JSC_usePollingTraps", "1", 0)
            var value: CInt = 0
            return jsc_options_get_boolean("usePollingTraps", &value) != 0 && value != 0
        }()

        /// Lets the engine ask after the interval if a running script is over. The limit of the engine holds once.
        private func limitTime(of group: JSContextGroupRef, _ watch: UnsafeMutableRawPointer) {
            JSContextGroupSetExecutionTimeLimit(group, stopInterval, isOver, watch)
        }

        private func isOver(_ context: JSContextRef?, _ pointer: UnsafeMutableRawPointer?) -> Bool {
            guard let pointer else { return false }
            let watch = pointer.assumingMemoryBound(to: ScriptWatch.self)
            watch.pointee.checkCount += 1
            if DispatchTime.now() >= watch.pointee.deadline { return true }
            limitTime(of: watch.pointee.group, pointer)
            return false
        }
    #endif

    /// A context of JavaScriptCore, in a virtual machine of its own.
    ///
    /// On Linux its loops are stopped at most 4 ms of the processor's time after their deadline. On Apple's systems
    /// nothing stops them.
    final class JavaScriptContext: ScriptContext {
        private let group: JSContextGroupRef
        private let context: JSGlobalContextRef
        /// The lines of the console, and the functions of the prelude that the host calls.
        private let lines: JSObjectRef
        private let invoke: JSObjectRef
        private let declare: JSObjectRef
        private let take: JSObjectRef
        /// The value that the engine passes to the function that stops scripts.
        let watch: UnsafeMutablePointer<ScriptWatch>

        /// - Throws: ``ScriptError`` if the engine does not run the prelude, or would not stop loops on Linux.
        init() throws(ScriptError) {
            #if !canImport(Darwin)
                guard compiledLoopsAsk else {
                    throw ScriptError(
                        .unsupported, "JavaScriptCore started without JSC_usePollingTraps=1: set it at launch")
                }
            #endif
            guard let group = JSContextGroupCreate() else {
                throw ScriptError(.unsupported, "JavaScriptCore does not start")
            }
            watch = .allocate(capacity: 1)
            watch.initialize(to: ScriptWatch(group: group))
            // Set before any code is compiled, which has the places where it can be stopped.
            #if !canImport(Darwin)
                limitTime(of: group, watch)
            #endif
            let context = JSGlobalContextCreateInGroup(group, nil)
            guard let context,
                let prelude = Self.evaluate(javaScriptPrelude, from: "runway", in: context, nil),
                let functions = JSValueToObject(context, prelude, nil)
            else {
                if let context { JSGlobalContextRelease(context) }
                JSContextGroupRelease(group)
                watch.deallocate()
                throw ScriptError(.unsupported, "JavaScriptCore does not run the prelude")
            }
            func function(_ index: UInt32) -> JSObjectRef {
                let value = JSObjectGetPropertyAtIndex(context, functions, index, nil)
                guard let object = JSValueToObject(context, value, nil) else {
                    preconditionFailure("the prelude returns no function \(index)")
                }
                JSValueProtect(context, object)
                return object
            }
            (lines, invoke, declare, take) = (function(0), function(1), function(2), function(3))
            self.group = group
            self.context = context
        }

        deinit {
            for object in [lines, invoke, declare, take] { JSValueUnprotect(context, object) }
            JSGlobalContextRelease(context)
            JSContextGroupRelease(group)
            watch.deallocate()
        }

        func run(_ file: ScriptFile, until deadline: DispatchTime) throws(ScriptError) {
            watch.pointee.deadline = deadline
            var exception: JSValueRef?
            if Self.evaluate(file.source, from: file.path, in: context, &exception) == nil {
                throw error(exception, until: deadline)
            }
        }

        func declarations() throws(ScriptError) -> [UInt8] {
            var exception: JSValueRef?
            let value = JSObjectCallAsFunction(context, declare, nil, 0, nil, &exception)
            guard exception == nil, let value, let bytes = string(value) else {
                throw ScriptError(.threw, "The declarations can't be read")
            }
            return bytes
        }

        func call(
            _ function: Int, _ call: ScriptArguments, until deadline: DispatchTime
        ) throws(ScriptError) -> [UInt8] {
            watch.pointee.deadline = deadline
            let input = Self.string(call.values)
            defer { JSStringRelease(input) }
            var exception: JSValueRef?
            let value = withUnsafeTemporaryAllocation(of: JSValueRef?.self, capacity: 4) { arguments in
                arguments.initializeElement(at: 0, to: JSValueMakeNumber(context, Double(function)))
                arguments.initializeElement(at: 1, to: JSValueMakeString(context, input))
                arguments.initializeElement(at: 2, to: JSValueMakeNumber(context, call.now))
                arguments.initializeElement(at: 3, to: JSValueMakeNumber(context, Double(call.seed)))
                return JSObjectCallAsFunction(context, invoke, nil, 4, arguments.baseAddress, &exception)
            }
            guard exception == nil, let value else { throw error(exception, until: deadline) }
            guard JSValueIsString(context, value) else {
                throw ScriptError(.mismatched, "The script returned no value")
            }
            guard let bytes = string(value) else {
                throw ScriptError(
                    .mismatched, "The result has more than \(ScriptArguments.maximumResultByteCount) bytes")
            }
            return bytes
        }

        func takeConsole() -> [UInt8]? {
            guard let first = JSObjectGetPropertyAtIndex(context, lines, 0, nil), JSValueIsString(context, first) else {
                return nil
            }
            // Longer than any list of lines takes.
            watch.pointee.deadline = .now() + .milliseconds(100)
            return JSObjectCallAsFunction(context, take, nil, 0, nil, nil).flatMap(string)
        }

        /// Describes what a script threw. Reading it may run code of the script, within its deadline.
        private func error(_ exception: JSValueRef?, until deadline: DispatchTime) -> ScriptError {
            guard let exception, DispatchTime.now() < deadline else { return .deadlinePassed }
            let message = string(exception).map { String(decoding: $0.prefix(4_096), as: UTF8.self) }
            var place: (file: String?, line: Int?)
            if JSValueIsObject(context, exception), let object = JSValueToObject(context, exception, nil) {
                if let file = property("sourceURL", of: object), JSValueIsString(context, file) {
                    place.file = string(file).map { String(decoding: $0.prefix(1_024), as: UTF8.self) }
                }
                if let line = property("line", of: object), JSValueIsNumber(context, line) {
                    place.line = Int(exactly: JSValueToNumber(context, line, nil))
                }
            }
            return ScriptError(.threw, message ?? "The script threw", file: place.file, line: place.line)
        }

        private func property(_ name: StaticString, of object: JSObjectRef) -> JSValueRef? {
            let name = JSStringCreateWithUTF8CString("\(name)")
            defer { JSStringRelease(name) }
            return JSObjectGetProperty(context, object, name, nil)
        }

        private static func evaluate(
            _ source: String, from file: String, in context: JSContextRef,
            _ exception: UnsafeMutablePointer<JSValueRef?>?
        ) -> JSValueRef? {
            let script = JSStringCreateWithUTF8CString(source)
            let url = JSStringCreateWithUTF8CString(file)
            defer {
                JSStringRelease(script)
                JSStringRelease(url)
            }
            return JSEvaluateScript(context, script, nil, url, 1, exception)
        }

        private static func string(_ bytes: [UInt8]) -> JSStringRef? {
            // On the stack, if they are few.
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytes.count + 1) { buffer in
                _ = buffer.initialize(from: bytes)
                buffer.initializeElement(at: bytes.count, to: 0)
                return buffer.withMemoryRebound(to: CChar.self) { JSStringCreateWithUTF8CString($0.baseAddress) }
            }
        }

        /// Copies a value as text. Returns `nil` if it can't be converted, or is longer than a result may be.
        private func string(_ value: JSValueRef) -> [UInt8]? {
            guard let text = JSValueToStringCopy(context, value, nil) else { return nil }
            defer { JSStringRelease(text) }
            guard JSStringGetLength(text) <= ScriptArguments.maximumResultByteCount else { return nil }
            let capacity = JSStringGetMaximumUTF8CStringSize(text)
            let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
                // The size includes the zero byte at the end.
                count = buffer.withMemoryRebound(to: CChar.self) { chars in
                    JSStringGetUTF8CString(text, chars.baseAddress, capacity)
                }
                count = max(0, count - 1)
            }
            return bytes.count <= ScriptArguments.maximumResultByteCount ? bytes : nil
        }
    }
#endif
