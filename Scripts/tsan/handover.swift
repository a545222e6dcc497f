// Two threads, one variable, one contended lock: what Scripts/thread-sanitizer.sh checks itself with. As it stands,
// every access is locked, and nothing may be reported. With `-D UNLOCKED` the second thread takes no lock, and the race
// must be reported. The pauses put the two threads in order without the sanitizer's seeing it, so that the lock alone
// can be what it sees, and so that the second thread waits for the lock inside the library.

import Dispatch
import Foundation
import Synchronization

final class Unguarded: @unchecked Sendable {
    var value = 0
}

@main
struct Handover {
    static func main() {
        let guarded = Unguarded()
        let lock = Mutex(())
        let locked = DispatchSemaphore(value: 0)
        let finished = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            lock.withLock { _ in
                locked.signal()
                Thread.sleep(forTimeInterval: 0.3)
                guarded.value += 1
            }
            finished.signal()
        }
        locked.wait()
        #if UNLOCKED
            Thread.sleep(forTimeInterval: 0.6)
            guarded.value += 1
        #else
            lock.withLock { _ in guarded.value += 1 }
        #endif
        finished.wait()
    }
}
