import Foundation
import RunwayStreams
import Testing

@testable import RunwayChat

/// Twenty clients of one conversation in simulated worlds in which everything fails: every message once, in order, on every screen.
struct ChatModelTests {
    /// How many worlds are simulated, from the seed 1.
    private static let seedCount =
        ProcessInfo.processInfo.environment["RUNWAY_CHAT_SEEDS"].flatMap { UInt64($0) } ?? 16

    @Test(.timeLimit(.minutes(60))) func everyScreenShowsEveryMessageOnceInOrder() async {
        let width: UInt64 = 8
        await withTaskGroup(of: Void.self) { group in
            for part in 0..<width {
                group.addTask {
                    for seed in stride(from: part + 1, through: Self.seedCount, by: Int(width)) {
                        let failure = ChatWorld(seed: seed).run()
                        #expect(failure == nil, "seed \(seed)")
                    }
                }
            }
        }
    }

    @Test(arguments: ChatMistake.allCases)
    func plantedMistakeIsFound(_ mistake: ChatMistake) {
        let seed = (1...100 as ClosedRange<UInt64>).first { ChatWorld(seed: $0, mistake: mistake).run() != nil }
        #expect(seed != nil, "no world shows \(mistake)")
    }
}
