// Races, of which each must be reported. Most come close to one of the hand-overs: what teaches the sanitizer of those
// may not hide these. Of two tasks that race, one is on the main actor, so that no worker runs both.

import Synchronization

let races: [Check.Case] = [
    ("global of two tasks", raceForGlobal),
    ("field of two child tasks", raceForField),
    ("lock that one does not take", raceWithoutLock),
    ("resumed with, and kept", raceWithResumer),
    ("resumed with early, and kept", raceWithEarlyResumer),
    ("resumed, but not awaited", raceBeforeAwaiting),
    ("resumed with early, and given on", raceWithStranger),
    ("given to an actor, and kept", raceWithActor),
    ("given to the main actor, and kept", raceWithMainActor),
    ("yielded, and kept", raceWithStream),
]

nonisolated(unsafe) private var counter = 0

@Sendable private func raceForGlobal() async {
    let counted = Moment()
    let tasks = [
        Task.detached {
            counter += 1
            counted.come()
        },
        Task { @MainActor in
            counted.wait()
            counter += 1
        },
    ]
    for task in tasks { await task.value }
}

@Sendable private func raceForField() async {
    let (parcel, stamped) = (Parcel(), Moment())
    await withTaskGroup(of: Void.self) { group in
        group.addTask {
            parcel.stamp()
            stamped.come()
        }
        group.addTask { @MainActor in
            stamped.wait()
            parcel.stamp()
        }
    }
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
    let (parcel, resumed, wentOn) = (Parcel(), Moment(), Moment())
    await withTaskGroup(of: Void.self) { group in
        group.addTask {
            await withCheckedContinuation { continuation in
                inThread {
                    parcel.stamp()
                    continuation.resume()
                    resumed.come()
                }
                resumed.wait()
            }
            wentOn.come()
        }
        group.addTask { @MainActor in
            wentOn.wait()
            parcel.stamp()
        }
    }
}

// MARK: Actors and streams

private actor Depot {
    func stamp(_ parcel: Parcel) { parcel.stamp() }
}

@Sendable private func raceWithActor() async {
    let (parcel, stamped) = (Parcel(), Moment())
    let depot = Depot()
    await withTaskGroup(of: Void.self) { group in
        group.addTask {
            await depot.stamp(parcel)
            stamped.come()
        }
        group.addTask { @MainActor in
            stamped.wait()
            parcel.stamp()
        }
    }
}

@Sendable private func raceWithMainActor() async {
    let (parcel, stamped) = (Parcel(), Moment())
    await withTaskGroup(of: Void.self) { group in
        group.addTask { @MainActor in
            parcel.stamp()
            stamped.come()
        }
        group.addTask {
            stamped.wait()
            parcel.stamp()
        }
    }
}

@Sendable private func raceWithStream() async {
    let stamped = Moment()
    let (stream, source) = AsyncStream<Parcel>.makeStream()
    inThread {
        let parcel = Parcel()
        source.yield(parcel)
        parcel.stamp()
        stamped.come()
        source.finish()
    }
    for await parcel in stream {
        stamped.wait()
        parcel.stamp()
    }
}
