import NIOCore
import Testing

@testable import RunwayTransport

/// In which order requests that wait for a connection leave the queue.
struct PoolQueueTests {
    @Test func withdrawalsLeaveTheOrderOfOthers() {
        var queue = PoolQueue()
        for request: RequestID in 1...300 { queue.append(request, until: .distantFuture) }
        for request: RequestID in 1...300 where request % 100 != 0 { queue.withdraw(request) }
        #expect(queue.count == 3)
        let taken = (1...4).map { _ in queue.takeFirst(mayNeedFresh: true) }
        #expect(taken == [100, 200, 300, nil])
    }

    @Test func requestForAFreshConnectionIsPassedOver() {
        var queue = PoolQueue()
        queue.append(1, until: .distantFuture)
        queue.prepend(2, until: .distantFuture, needsFresh: true)
        let taken = [false, false, true].map { queue.takeFirst(mayNeedFresh: $0) }
        #expect(taken == [1, nil, 2])
    }

    @Test func lateRequestsLeaveInOrder() {
        var queue = PoolQueue()
        for request: RequestID in 1...6 { queue.append(request, until: .uptimeNanoseconds(request % 2)) }
        queue.withdraw(4)
        let late = queue.takeLate(at: .uptimeNanoseconds(0))
        #expect(late == [2, 6] && queue.firstDeadline == .uptimeNanoseconds(1))
        let rest = queue.takeAll()
        #expect(rest == [1, 3, 5] && queue.isEmpty)
    }
}
