// Hand-overs through actors, executors, streams and globals: see handovers.swift.

import Dispatch

private actor Depot {
    private let parcel = Parcel()
    private var rest: [Parcel] = []

    func stamp() { parcel.stamp() }

    func store(_ parcel: sending Parcel) { rest.append(parcel) }

    func take() -> sending Parcel? { rest.popLast() }

    func stampTwice() async {
        parcel.stamp()
        await Task.yield()
        parcel.stamp()
    }
}

@Sendable func handOverByActor() async {
    let depot = Depot()
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<8 {
            group.addTask {
                for _ in 0..<200 {
                    await depot.stamp()
                    await depot.store(Parcel())
                    await depot.stampTwice()
                    await depot.take()?.stamp()
                }
            }
        }
    }
}

@MainActor private let parcelOfTheMainActor = Parcel()

@Sendable func handOverByMainActor() async {
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<8 {
            group.addTask {
                for _ in 0..<50 {
                    await MainActor.run { parcelOfTheMainActor.stamp() }
                    let parcel = await Task { @MainActor in Parcel() }.value
                    parcel.stamp()
                }
            }
        }
    }
    await parcelOfTheMainActor.stamp()
}

/// An executor that starts a thread for every job, one after the other.
private final class ThreadPerJob: SerialExecutor {
    private let turn = DispatchSemaphore(value: 1)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        inThread { [self] in
            turn.wait()
            job.runSynchronously(on: asUnownedSerialExecutor())
            turn.signal()
        }
    }
}

private actor Elsewhere {
    private let executor = ThreadPerJob()
    private let parcel = Parcel()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func stamp(_ other: Parcel) {
        parcel.stamp()
        other.stamp()
    }
}

@Sendable func handOverByExecutor() async {
    let elsewhere = Elsewhere()
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
            group.addTask {
                let parcel = Parcel()
                for _ in 0..<20 {
                    await elsewhere.stamp(parcel)
                    parcel.stamp()
                }
            }
        }
    }
}

// MARK: Streams and globals

/// A value that waits for its reader, and a reader who waits for its value.
@Sendable func handOverByStream() async {
    for isReaderFirst in [false, true] {
        let (stream, source) = AsyncStream<Parcel>.makeStream()
        let (failingStream, failingSource) = AsyncThrowingStream<Parcel, any Error>.makeStream()
        inThread {
            for _ in 0..<5 {
                if isReaderFirst { dawdle() }
                source.yield(Parcel())
                failingSource.yield(Parcel())
            }
            source.finish()
            if isReaderFirst { dawdle() }
            failingSource.finish(throwing: HandedOver(parcel: Parcel()))
        }
        if !isReaderFirst { dawdle() }
        for await parcel in stream { parcel.stamp() }
        do {
            for try await parcel in failingStream { parcel.stamp() }
        } catch {
            (error as? HandedOver)?.parcel.stamp()
        }
    }
    let (stream, source) = AsyncStream<Parcel>.makeStream()
    let reader = Task.detached { for await parcel in stream { parcel.stamp() } }
    for _ in 0..<5000 {
        source.yield(Parcel())
        await Task.yield()
    }
    source.finish()
    await reader.value
}

private let madeAtFirstUse = [Parcel(), Parcel()]

@Sendable func handOverByLazyGlobal() async {
    await withTaskGroup(of: Int.self) { group in
        for _ in 0..<2 {
            group.addTask {
                dawdle()
                return madeAtFirstUse.count
            }
        }
    }
}
