import Foundation

/// All peers on all documents, in turns, so that what disturbs one round disturbs every peer alike.
struct Comparison {
    let documents: [(name: String, bytes: [UInt8])]
    let simdjson: String?

    private static let rounds = 15
    private static let roundSeconds = 0.06
    private static let processes = 5

    func run() throws {
        for (name, bytes) in documents {
            let medians = try medians(bytes)
            print("\n\(name): \(bytes.count) bytes, medians of the processor's time in \(Self.rounds) rounds")
            let ours = medians.first { $0.name == "runway" }?.value ?? 0
            for (peer, nanoseconds) in medians {
                let micros = String(format: "%10.1f µs", nanoseconds / 1000)
                let ratio = String(format: "%7.2f × runway", nanoseconds / ours)
                print("  \(peer.padding(toLength: 24, withPad: " ", startingAt: 0)) \(micros) \(ratio)")
            }
            Goal.times.forEach { $0.report(medians) }
        }
        let growths = try memory()
        print(
            "\ngrowth of the peak resident size by one pass on the large document, medians of \(Self.processes) processes"
        )
        for (peer, kibibytes) in growths {
            print("  \(peer.padding(toLength: 24, withPad: " ", startingAt: 0)) \(Int(kibibytes)) KiB")
        }
        Goal.memory.report(growths)
    }

    private func medians(_ bytes: [UInt8]) throws -> [Figure] {
        let data = Data(bytes)
        var times = [[Double]](repeating: [], count: Peer.all.count)
        var peerTimes: [Double] = []
        let passes = try Peer.all.map { peer in
            let once = try time { _ = try peer.read(bytes, data) }
            return max(1, Int(Self.roundSeconds * 1e9 / once))
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "listing-\(bytes.count).json")
        try data.write(to: file)
        for _ in 0..<Self.rounds {
            for (index, peer) in Peer.all.enumerated() {
                let elapsed = try time { for _ in 0..<passes[index] { _ = try peer.read(bytes, data) } }
                times[index].append(elapsed / Double(passes[index]))
            }
            if let simdjson {
                let passes = max(1, Int(Self.roundSeconds * 1e9 / (Double(bytes.count) * 0.35)))
                peerTimes += try run(simdjson, [file.path(), "1", "\(passes)"]).compactMap(Double.init)
            }
        }
        var medians = zip(Peer.all, times).map { Figure($0.name, $1.sorted()[$1.count / 2]) }
        if !peerTimes.isEmpty { medians.append(("simdjson", peerTimes.sorted()[peerTimes.count / 2])) }
        return medians
    }

    private func memory() throws -> [Figure] {
        try Peer.all.map { peer in
            let growths = try (0..<Self.processes).flatMap { _ in
                try run(CommandLine.arguments[0], ["--memory", peer.name]).compactMap(Double.init)
            }
            return Figure(peer.name, growths.sorted()[growths.count / 2])
        }
    }

    /// The processor's time, which other programs on the machine lengthen less than the clock's.
    private func time(_ body: () throws -> Void) rethrows -> Double {
        let start = processorNanoseconds()
        try body()
        return processorNanoseconds() - start
    }

    private func processorNanoseconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    /// The lines that a program prints.
    private func run(_ program: String, _ arguments: [String]) throws -> [String] {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
