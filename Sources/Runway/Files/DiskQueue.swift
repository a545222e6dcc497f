import Dispatch

/// Performs operations that may wait for a disk, one after the other, outside the threads of Swift's tasks.
///
/// An enqueued operation is performed even if the task that waits for it is cancelled.
final class DiskQueue: Sendable {
    private let queue = DispatchQueue(label: "runway.disk")

    func run<Value: Sendable>(
        _ operation: @escaping @Sendable () throws(FileError) -> Value
    ) async throws(FileError) -> Value {
        let result: Result<Value, FileError> = await withCheckedContinuation { continuation in
            queue.async {
                do throws(FileError) {
                    continuation.resume(returning: .success(try operation()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}
