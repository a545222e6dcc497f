// The program that Scripts/thread-sanitizer.sh checks itself with. Its argument is the name of one hand-over, which the
// sanitizer may not report, or of one race, which it must; `handovers` does every hand-over, `races` prints the names.

import Foundation
import Synchronization

/// What is handed over: only its last receiver may use it.
final class Parcel: @unchecked Sendable {
    private var stamps: [Int] = []

    init() { stamp() }

    func stamp() { stamps.append(stamps.count) }
}

/// Puts what waits for it after what comes before it, without the sanitizer's seeing that.
final class Moment: Sendable {
    private let hasCome = Atomic(false)

    func come() { hasCome.store(true, ordering: .relaxed) }

    /// Blocks the thread.
    func wait() { while !hasCome.load(ordering: .relaxed) { dawdle() } }
}

/// Blocks the thread, which most often lets others come to where they wait.
func dawdle() { usleep(20_000) }

func inThread(_ work: @escaping @Sendable () -> Void) { Thread.detachNewThread(work) }

@main
struct Check {
    typealias Case = (name: String, run: @Sendable () async -> Void)

    static func main() async {
        switch CommandLine.arguments.dropFirst().first {
        case "handovers": for handOver in handOvers { await handOver.run() }
        case "races": print(races.map(\.name).joined(separator: "\n"))
        case let name:
            guard let check = (handOvers + races).first(where: { $0.name == name }) else { exit(2) }
            await check.run()
        }
    }
}
