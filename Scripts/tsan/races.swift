// Races, of which each must be reported. Most come close to one of the hand-overs: what teaches the sanitizer of those
// may not hide these.

import Synchronization

let races: [Check.Case] = [
    ("global of two tasks", raceForGlobal),
    ("field of two child tasks", raceForField),
    ("lock that one does not take", raceWithoutLock),
    ("resumed with, and still used", raceWithResumer),
    ("resumed with early, and still used", raceWithEarlyResumer),
    ("resumed, but not awaited", raceBeforeAwaiting),
    ("resumed with early, and given on", raceWithStranger),
    ("passed to an actor, and still used", raceWithActor),
    ("passed to the main actor, and still used", raceWithMainActor),
    ("yielded, and still used", raceWithStream),
]

/// Does one thing in a child task, then another in a second one. The second is on the main actor, so that no worker does
/// both, and runs before the first begins, so that the two are not ordered by what starts and ends tasks.
private func race(_ one: @escaping @Sendable () async -> Void, _ other: @escaping @MainActor () -> Void) async {
    let (otherRuns, oneIsDone) = (Moment(), Moment())
    await withTaskGroup(of: Void.self) { group in
        group.addTask {
            otherRuns.wait()
            await one()
            oneIsDone.come()
        }
        group.addTask { @MainActor in
            otherRuns.come()
            oneIsDone.wait()
            other()
        }
    }
}

nonisolated(unsafe) private var counter = 0

@Sendable private func raceForGlobal() async {
    await race({ counter += 1 }, { counter += 1 })
}

@Sendable private func raceForField() async {
    let parcel = Parcel()
    await race({ parcel.stamp() }, { parcel.stamp() })
}

@Sendable private func raceWithoutLock() async {
    let (parcel, stamped) = (Parcel(), Moment())
    let lock = Mutex(())
    await withCheckedContinuation { continuation in
        inThread {
            lock.withLock { _ in parcel.stamp() }
            stamped.come()
        }
        inThread {
            stamped.wait()
            parcel.stamp()
            continuation.resume()
        }
    }
}

// MARK: Continuations

@Sendable private func raceWithResumer() async {
    let stamped = Moment()
    let parcel = await withCheckedContinuation { continuation in
        inThread {
            let parcel = Parcel()
            dawdle()
            continuation.resume(returning: parcel)
            parcel.stamp()
            stamped.come()
        }
    }
    stamped.wait()
    parcel.stamp()
}

@Sendable private func raceWithEarlyResumer() async {
    let stamped = Moment()
    let parcel = await withCheckedContinuation { continuation in
        inThread {
            let parcel = Parcel()
            continuation.resume(returning: parcel)
            parcel.stamp()
            stamped.come()
        }
        stamped.wait()
    }
    parcel.stamp()
}

/// The task touches what the thread touched before it resumed the task, at a time when it has not awaited that.
@Sendable private func raceBeforeAwaiting() async {
    let (parcel, resumed) = (Parcel(), Moment())
    await withCheckedContinuation { continuation in
        inThread {
            parcel.stamp()
            continuation.resume()
            resumed.come()
        }
        resumed.wait()
        parcel.stamp()
    }
}

/// A thread resumes one task, and another touches what the thread touched.
@Sendable private func raceWithStranger() async {
    let parcel = Parcel()
    await race {
        await withCheckedContinuation { continuation in
            let resumed = Moment()
            inThread {
                parcel.stamp()
                continuation.resume()
                resumed.come()
            }
            resumed.wait()
        }
    } _: {
        parcel.stamp()
    }
}

// MARK: Actors and streams

private actor Depot {
    func stamp(_ parcel: Parcel) { parcel.stamp() }
}

@Sendable private func raceWithActor() async {
    let (parcel, depot) = (Parcel(), Depot())
    await race({ await depot.stamp(parcel) }, { parcel.stamp() })
}

@Sendable private func raceWithMainActor() async {
    let (parcel, workerRuns, stamped) = (Parcel(), Moment(), Moment())
    await withTaskGroup(of: Void.self) { group in
        group.addTask { @MainActor in
            workerRuns.wait()
            parcel.stamp()
            stamped.come()
        }
        group.addTask {
            workerRuns.come()
            stamped.wait()
            parcel.stamp()
        }
    }
}

@Sendable private func raceWithStream() async {
    let (stamped, read) = (Moment(), Moment())
    let (stream, source) = AsyncStream<Parcel>.makeStream()
    inThread {
        let parcel = Parcel()
        source.yield(parcel)
        parcel.stamp()
        stamped.come()
        read.wait()
        source.finish()
    }
    for await parcel in stream {
        stamped.wait()
        parcel.stamp()
        read.come()
    }
}
