import RunwayTesting
import Synchronization
import Testing

@testable import RunwayServer

/// What is committed together, and what is refused.
struct CommitQueueTests {
    private let limits = CommitQueueLimits(
        maximumWaitingCount: 4, maximumWaitingByteCount: 100, maximumGroupCount: 3, maximumGroupByteCount: 50)

    @Test func whatCameMeanwhileIsTheNextGroup() {
        var queue = CommitQueue<Int>(limits)
        #expect(queue.add(1, byteCount: 1) == .begins)
        #expect(queue.next() == [1])
        for number in 2...5 { #expect(queue.add(number, byteCount: 1) == .waits) }
        #expect(queue.add(6, byteCount: 1) == .full)
        #expect(queue.next() == [2, 3, 4])
        #expect(queue.next() == [5])
        #expect(queue.next() == [])
        #expect(queue.add(7, byteCount: 1) == .begins)
    }

    @Test func groupsAndQueueAreBoundedByBytes() {
        var queue = CommitQueue<Int>(limits)
        #expect(queue.add(1, byteCount: 1000) == .begins)
        #expect(queue.add(2, byteCount: 1) == .full)
        #expect(queue.next() == [1])
        for number in 2...4 { #expect(queue.add(number, byteCount: 30) == .waits) }
        #expect(queue.add(5, byteCount: 30) == .full)
        #expect(queue.next() == [2])
        #expect(queue.next() == [3])
    }

    @Test func closedQueueCommitsWhatWaits() {
        var queue = CommitQueue<Int>(limits)
        #expect(queue.close() == false)
        #expect(queue.add(1, byteCount: 1) == .closed)
        queue = CommitQueue(limits)
        _ = queue.add(1, byteCount: 1)
        #expect(queue.close() == true)
        #expect(queue.next() == [1])
    }

    @Test func errorOfOneElementFailsNoOther() async {
        struct Failure: CommitError { var isOfOneElement: Bool { true } }
        let group = GroupCommit<Int, Int>(
            label: "test",
            limits: CommitQueueLimits(
                maximumWaitingCount: 1000, maximumWaitingByteCount: 1000, maximumGroupCount: 7, maximumGroupByteCount: 7
            )
        ) { numbers in
            if numbers.contains(13) { throw Failure() }
            return numbers.map { $0 * 2 }
        }
        let results = await withTaskGroup(of: (Int, Int?).self) { tasks in
            for number in 0..<200 { tasks.addTask { (number, try? await group.commit(number, byteCount: 1)) } }
            return await tasks.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(results.count == 199 && results.allSatisfy { $0.value == $0.key * 2 })
        await group.close()
    }

    @Test func everyWaiterGetsItsValueOrGroupsError() async {
        struct Failure: Error {}
        let group = GroupCommit<Int, Int>(
            label: "test",
            limits: CommitQueueLimits(
                maximumWaitingCount: 1000, maximumWaitingByteCount: 1000, maximumGroupCount: 7, maximumGroupByteCount: 7
            )
        ) { numbers in
            if numbers.contains(13) { throw Failure() }
            return numbers.map { $0 * 2 }
        }
        let results = await withTaskGroup(of: (Int, Int?).self) { tasks in
            for number in 0..<200 { tasks.addTask { (number, try? await group.commit(number, byteCount: 1)) } }
            return await tasks.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        for (number, value) in results { #expect(value == number * 2 && number != 13) }
        #expect((193..<200).contains(results.count), "Up to seven are in a group")
        await group.close()
        await #expect(throws: CancellationError.self) { try await group.commit(1, byteCount: 1) }
    }
}
