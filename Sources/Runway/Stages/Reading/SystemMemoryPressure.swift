#if canImport(Dispatch) && (os(macOS) || os(iOS) || os(tvOS) || os(watchOS) || os(visionOS))
    import Dispatch

    /// Evicts cached responses when the system needs memory.
    // Unchecked: the sources are created once and never changed, and any thread may use and cancel them.
    final class SystemMemoryPressure: @unchecked Sendable {
        private let sources: [any DispatchSourceMemoryPressure]

        init(relieving cache: ResponseCache) {
            let queue = DispatchQueue.global(qos: .utility)
            let warning = DispatchSource.makeMemoryPressureSource(eventMask: .warning, queue: queue)
            warning.setEventHandler { [weak cache] in cache?.relieveMemory() }
            let critical = DispatchSource.makeMemoryPressureSource(eventMask: .critical, queue: queue)
            critical.setEventHandler { [weak cache] in cache?.relieveMemory(isCritical: true) }
            sources = [warning, critical]
            for source in sources { source.activate() }
        }

        deinit {
            for source in sources { source.cancel() }
        }
    }
#endif
