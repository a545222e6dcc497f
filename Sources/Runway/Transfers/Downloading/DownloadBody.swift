import HTTPTypes

/// Writes the body of one response to a partial file.
struct DownloadBody: Sendable {
    /// The number of bytes to buffer before a write: 256 KiB.
    private static let gatheredByteCount = 256 << 10
    /// The number of bytes after which the file is flushed to the storage device: 64 MiB.
    private static let checkpointByteCount = 64 << 20

    let partial: PartialFile
    let source: String
    let flight: Flight
    let progress: ProgressReporter?

    enum Ending: Sendable {
        case ended(DownloadPlan.Ending)
        /// More bytes were received than announced or allowed.
        case surplus(DownloadPlan.Rejection)
        /// The body ended with an error.
        case broken(any Error)
        case failed(FileError)
    }

    /// Reads the body until it ends or can't be used. All bytes up to that point are written to the file.
    @concurrent func receive(_ body: BodyStream, _ plan: DownloadPlan) async -> (plan: DownloadPlan, ending: Ending) {
        var plan = plan
        var gathered: [UInt8] = []
        var offset = plan.byteCount
        var synced = offset
        func flush() async throws(FileError) {
            if gathered.isEmpty { return }
            try await partial.write(gathered, at: offset)
            offset += gathered.count
            gathered.removeAll(keepingCapacity: true)
            guard offset - synced >= Self.checkpointByteCount, let representation = plan.representation else { return }
            try await partial.checkpoint(representation, of: source, byteCount: offset)
            synced = offset
        }
        var parts = body.makeAsyncIterator()
        do throws(FileError) {
            while true {
                let part: [UInt8]?
                do { part = try await parts.next() } catch {
                    try await flush()
                    return (plan, .broken(error))
                }
                guard let part else { break }
                flight.extendDeadline()
                if let rejection = plan.take(partOf: part.count) { return (plan, .surplus(rejection)) }
                gathered += part
                if gathered.count >= Self.gatheredByteCount { try await flush() }
                progress?.report(plan.byteCount, of: plan.representation?.byteCount)
            }
            try await flush()
            return (plan, .ended(plan.takeEnd()))
        } catch {
            return (plan, .failed(error))
        }
    }
}
