import Testing

@testable import Runway

struct MergeQueueTests {
    private static func id(_ number: UInt64) -> MergeQueue.RequestID { MergeQueue.RequestID(number: number) }
    private static func dispatch(_ number: UInt64) -> MergeQueue.DispatchID {
        MergeQueue.DispatchID(first: id(number))
    }
    private static func leave(_ numbers: UInt64...) -> MergeQueue.Action {
        .leave(numbers.map(id), as: dispatch(numbers[0]))
    }

    private func arrive(
        _ number: UInt64, at milliseconds: Int, byteCount: Int = 1, in queue: inout MergeQueue
    ) -> [MergeQueue.Action] {
        queue.arrive(Self.id(number), byteCount: byteCount, at: .milliseconds(milliseconds))
    }

    private func complete(_ number: UInt64, at milliseconds: Int, in queue: inout MergeQueue) -> [MergeQueue.Action] {
        queue.complete(Self.dispatch(number), at: .milliseconds(milliseconds))
    }

    private func wake(at milliseconds: Int, in queue: inout MergeQueue) -> [MergeQueue.Action] {
        queue.wake(at: .milliseconds(milliseconds))
    }

    private func cancel(_ number: UInt64, in queue: inout MergeQueue) -> Bool { queue.cancel(Self.id(number)) }

    @Test func firstLeavesAtOnceAndOthersAfterIt() {
        var queue = MergeQueue(MergePolicy(settling: .zero))
        #expect(arrive(1, at: 0, in: &queue) == [Self.leave(1)])
        #expect(arrive(2, at: 1, in: &queue) == [.wake(at: .milliseconds(51))])
        #expect(arrive(3, at: 2, in: &queue) == [.wake(at: .milliseconds(51))])
        #expect(complete(1, at: 20, in: &queue) == [Self.leave(2, 3)])
        #expect(complete(2, at: 40, in: &queue) == [])
        #expect(queue.isIdle)
    }

    @Test func requestsAreSentAfterTheMaximumWait() {
        var queue = MergeQueue(.standard)
        _ = arrive(1, at: 0, in: &queue)
        _ = arrive(2, at: 5, in: &queue)
        _ = arrive(3, at: 54, in: &queue)
        #expect(wake(at: 54, in: &queue) == [.wake(at: .milliseconds(55))])
        #expect(wake(at: 55, in: &queue) == [Self.leave(2, 3)])
    }

    @Test func callsThatFollowOneAnotherNeverWait() {
        var queue = MergeQueue(.standard)
        for number in 1...9 as ClosedRange<UInt64> {
            #expect(arrive(number, at: Int(number), in: &queue) == [Self.leave(number)])
            #expect(complete(number, at: Int(number), in: &queue) == [])
        }
    }

    @Test func aFullEnvelopeIsSentAtOnce() {
        var queue = MergeQueue(MergePolicy(maximumCount: 2))
        _ = arrive(1, at: 0, in: &queue)
        _ = arrive(2, at: 0, in: &queue)
        #expect(arrive(3, at: 0, in: &queue) == [Self.leave(2, 3)])
    }

    @Test func requestThatDoesNotFitSendsTheOthers() {
        var queue = MergeQueue(MergePolicy(maximumByteCount: 10, settling: .milliseconds(2)))
        _ = arrive(1, at: 0, byteCount: 10, in: &queue)
        _ = arrive(2, at: 0, byteCount: 6, in: &queue)
        _ = arrive(3, at: 0, byteCount: 4, in: &queue)
        #expect(arrive(4, at: 9, byteCount: 1, in: &queue) == [Self.leave(2, 3), .wake(at: .milliseconds(59))])
    }

    @Test func cancelledWaitersAreNotSent() {
        var queue = MergeQueue(MergePolicy(settling: .zero))
        _ = arrive(1, at: 0, in: &queue)
        for number in 2...4 as ClosedRange<UInt64> { _ = arrive(number, at: 0, in: &queue) }
        #expect(cancel(3, in: &queue) == true)
        #expect(cancel(3, in: &queue) == false)
        #expect(cancel(1, in: &queue) == false)
        #expect(complete(1, at: 0, in: &queue) == [Self.leave(2, 4)])
    }

    @Test func nothingLeavesWhereAllThatWaitedWasCancelled() {
        var queue = MergeQueue(MergePolicy(settling: .zero))
        _ = arrive(1, at: 0, in: &queue)
        _ = arrive(2, at: 0, in: &queue)
        _ = queue.cancel(Self.id(2))
        #expect(complete(1, at: 0, in: &queue) == [])
        #expect(wake(at: 1000, in: &queue) == [])
        #expect(queue.isIdle)
    }

    @Test func callersOfACompletedDispatchJoinTheWaiters() {
        var queue = MergeQueue(.standard)
        _ = arrive(1, at: 0, in: &queue)
        _ = arrive(2, at: 0, in: &queue)
        #expect(complete(1, at: 20, in: &queue) == [.wake(at: .milliseconds(22))])
        // The caller of the first comes again: nobody else is awaited.
        #expect(arrive(3, at: 20, in: &queue) == [Self.leave(2, 3)])
        #expect(complete(2, at: 40, in: &queue) == [.wake(at: .milliseconds(42))])
        #expect(arrive(4, at: 41, in: &queue) == [.wake(at: .milliseconds(42))])
        #expect(wake(at: 42, in: &queue) == [Self.leave(4)])
    }

    @Test func settlingEndsThoughNobodyComes() {
        var queue = MergeQueue(.standard)
        _ = arrive(1, at: 0, in: &queue)
        _ = arrive(2, at: 0, in: &queue)
        _ = complete(1, at: 1, in: &queue)
        #expect(wake(at: 3, in: &queue) == [Self.leave(2)])
        #expect(complete(2, at: 4, in: &queue) == [])
        #expect(queue.isIdle)
    }

    @Test func releasedRequestsAreSentOneByOne() {
        var queue = MergeQueue(.standard)
        for number in 1...3 as ClosedRange<UInt64> { _ = arrive(number, at: 0, in: &queue) }
        let released = queue.release()
        #expect(released == [Self.leave(2), Self.leave(3)])
        #expect(queue.waitingCount == 0)
    }

    @Test func completionOfAnUnknownDispatchChangesNothing() {
        var queue = MergeQueue(MergePolicy(settling: .zero))
        _ = arrive(1, at: 0, in: &queue)
        _ = arrive(2, at: 0, in: &queue)
        #expect(complete(2, at: 0, in: &queue) == [])
        #expect(queue.waitingCount == 1)
    }

    @Test(arguments: [(0, Duration.seconds(5)), (-3, .seconds(-1)), (1000, .zero)])
    func boundsThatMakeNoSenseAreBoundedThemselves(count: Int, wait: Duration) {
        var queue = MergeQueue(MergePolicy(maximumCount: count, wait: wait))
        _ = arrive(1, at: 0, in: &queue)
        var left: [MergeQueue.RequestID] = []
        for number in 2...102 as ClosedRange<UInt64> {
            for case .leave(let ids, _) in arrive(number, at: 0, in: &queue) { left += ids }
        }
        #expect(left.count >= 100)
        for case .leave(let ids, _) in queue.wake(at: .seconds(1)) { left += ids }
        #expect(left.count == 101)
    }
}
