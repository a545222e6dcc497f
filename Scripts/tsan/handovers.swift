// Every way that Swift has to hand a thing from one thread or task to another, each used as it is meant to be. The thing
// is written before and after, and nothing but the way itself orders the two.

import Dispatch
import Synchronization

let handOvers: [Check.Case] = [
    ("mutex", handOverByMutex),
    ("continuation", handOverByContinuation),
    ("early continuation", handOverByEarlyContinuation),
    ("many continuations", handOverByManyContinuations),
    ("task", handOverByTask),
    ("group", handOverByGroup),
    ("actor", handOverByActor),
    ("main actor", handOverByMainActor),
    ("executor", handOverByExecutor),
    ("stream", handOverByStream),
    ("cancellation", handOverByCancellation),
    ("suspension", handOverBySuspension),
    ("task-local value", handOverByTaskLocalValue),
    ("lazy global", handOverByLazyGlobal),
]

/// The second thread waits for the lock inside the library.
@Sendable private func handOverByMutex() async {
    let parcel = Parcel()
    let lock = Mutex(())
    let locked = DispatchSemaphore(value: 0)
    await withCheckedContinuation { continuation in
        inThread {
            lock.withLock { _ in
                locked.signal()
                dawdle()
                parcel.stamp()
            }
        }
        inThread {
            locked.wait()
            lock.withLock { _ in parcel.stamp() }
            continuation.resume()
        }
    }
}

// MARK: Continuations

struct HandedOver: Error {
    let parcel: Parcel
}

/// The task suspends, and is resumed.
@Sendable private func handOverByContinuation() async {
    await handOverByEveryContinuation { resume in
        inThread {
            dawdle()
            resume(Parcel())
        }
    }
}

/// The task is resumed before it suspends, and goes straight on: by another thread, then by itself.
@Sendable private func handOverByEarlyContinuation() async {
    await handOverByEveryContinuation { resume in
        let resumed = Moment()
        inThread {
            resume(Parcel())
            resumed.come()
        }
        resumed.wait()
    }
    await handOverByEveryContinuation { resume in resume(Parcel()) }
}

private func handOverByEveryContinuation(_ send: (@escaping @Sendable (Parcel) -> Void) -> Void) async {
    await withCheckedContinuation { made in send { made.resume(returning: $0) } }.stamp()
    await withUnsafeContinuation { made in send { made.resume(returning: $0) } }.stamp()
    try? await withCheckedThrowingContinuation { made in send { made.resume(returning: $0) } }.stamp()
    try? await withUnsafeThrowingContinuation { made in send { made.resume(returning: $0) } }.stamp()
    do {
        try await withCheckedThrowingContinuation { (made: CheckedContinuation<Void, any Error>) in
            send { made.resume(throwing: HandedOver(parcel: $0)) }
        }
    } catch {
        (error as? HandedOver)?.parcel.stamp()
    }
    do {
        try await withUnsafeThrowingContinuation { (made: UnsafeContinuation<Void, any Error>) in
            send { made.resume(throwing: HandedOver(parcel: $0)) }
        }
    } catch {
        (error as? HandedOver)?.parcel.stamp()
    }
}

/// Resumes at any moment, of which some lie between the task's seeing that it must suspend and its having suspended.
@Sendable private func handOverByManyContinuations() async {
    final class Resumer: Sendable {
        let waiting = Mutex<[UnsafeContinuation<Parcel, Never>]>([])
        let isOver = Atomic(false)

        func resumeAll() {
            while !isOver.load(ordering: .relaxed) {
                let batch = waiting.withLock { waiting in
                    defer { waiting = [] }
                    return waiting
                }
                for continuation in batch { continuation.resume(returning: Parcel()) }
            }
        }
    }
    let resumer = Resumer()
    inThread { resumer.resumeAll() }
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
            group.addTask {
                for _ in 0..<5000 {
                    let parcel = await withUnsafeContinuation { made in resumer.waiting.withLock { $0.append(made) } }
                    parcel.stamp()
                }
            }
        }
    }
    resumer.isOver.store(true, ordering: .relaxed)
}

// MARK: Tasks

/// A task that ends after it is waited for, and one that has ended by then.
@Sendable private func handOverByTask() async {
    let given = Parcel()
    let late = Task.detached {
        given.stamp()
        dawdle()
        return given
    }
    await late.value.stamp()
    let early = Task.detached { Parcel() }
    dawdle()
    await early.value.stamp()
    let failing = Task.detached { throw HandedOver(parcel: Parcel()) }
    dawdle()
    if case .failure(let error) = await failing.result { (error as? HandedOver)?.parcel.stamp() }
}

@Sendable private func handOverByGroup() async {
    for areChildrenLast in [false, true] {
        await withTaskGroup(of: Parcel.self) { group in
            for _ in 0..<8 {
                let parcel = Parcel()
                group.addTask {
                    if areChildrenLast { dawdle() }
                    parcel.stamp()
                    return parcel
                }
            }
            if !areChildrenLast { dawdle() }
            for await parcel in group { parcel.stamp() }
        }
        let parcels = (0..<8).map { _ in Parcel() }
        await withDiscardingTaskGroup { group in
            for parcel in parcels {
                group.addTask {
                    if areChildrenLast { dawdle() }
                    parcel.stamp()
                }
            }
            if !areChildrenLast { dawdle() }
        }
        for parcel in parcels { parcel.stamp() }
        async let one = Parcel()
        async let other = dawdling(areChildrenLast)
        if !areChildrenLast { dawdle() }
        await one.stamp()
        await other.stamp()
    }
}

private func dawdling(_ isDawdling: Bool) async -> Parcel {
    if isDawdling { dawdle() }
    return Parcel()
}

@Sendable private func handOverBySuspension() async {
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
            group.addTask {
                let parcel = Parcel()
                for _ in 0..<50 {
                    await Task.yield()
                    parcel.stamp()
                    try? await Task.sleep(for: .microseconds(100))
                    parcel.stamp()
                }
            }
        }
    }
}

/// The handler runs in the thread that cancels. It comes after what the task did before it was set, and what the task
/// does once the handler is gone comes after it.
@Sendable private func handOverByCancellation() async {
    for _ in 0..<20 {
        let parcel = Parcel()
        let (cancelled, end) = AsyncStream<Void>.makeStream()
        let isWaiting = DispatchSemaphore(value: 0)
        let task = Task.detached {
            parcel.stamp()
            await withTaskCancellationHandler {
                isWaiting.signal()
                for await _ in cancelled {}
            } onCancel: {
                parcel.stamp()
                end.finish()
            }
            parcel.stamp()
        }
        inThread {
            isWaiting.wait()
            task.cancel()
        }
        await task.value
        parcel.stamp()
    }
}

private enum Luggage {
    @TaskLocal static var parcel = Parcel()
}

@Sendable private func handOverByTaskLocalValue() async {
    let parcel = Parcel()
    await Luggage.$parcel.withValue(parcel) {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { Luggage.parcel.stamp() }
        }
        await Task { Luggage.parcel.stamp() }.value
    }
    parcel.stamp()
}
