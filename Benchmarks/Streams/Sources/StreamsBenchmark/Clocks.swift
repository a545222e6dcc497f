import Foundation

/// The time of `CLOCK_MONOTONIC`, which all processes of a machine share, in nanoseconds.
func monotonicNanoseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// The processor's time of a process of this machine, user and system of all its threads, in seconds. Linux only.
func processorTime(of process: Int32) throws -> Double {
    var clock = clockid_t()
    var time = timespec()
    guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else {
        throw Failed("the processor's time of process \(process) is unknown")
    }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The data of an event: the instant just before it is published, filled up to a fixed length.
enum TimedData {
    static let byteCount = 256
    /// The bytes of an event on the wire: the data, the other 48 of the text, whose id has 22 letters and digits, the 9 of the head of an
    /// HTTP/2 frame, and the 22 that a record of TLS 1.3 adds.
    static let wireByteCount = byteCount + 48 + 9 + 22

    static func now() -> String {
        "\(monotonicNanoseconds())".padding(toLength: byteCount, withPad: ".", startingAt: 0)
    }

    /// The nanoseconds from the instant in the data to another.
    static func nanoseconds(from data: String, to instant: Int64) throws -> Int64 {
        guard data.utf8.count == byteCount, let start = Int64(data.prefix { $0 != "." }) else {
            throw Failed("an event has other data: \(data)")
        }
        return instant - start
    }
}
