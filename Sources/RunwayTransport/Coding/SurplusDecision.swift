import Runway

/// Records that bytes after the end of a coded body were ignored.
struct SurplusDecision: StageDecision, Equatable {
    let byteCount: Int

    static var step: FlightStep { .transporting }

    var entry: DecisionRecord {
        .init("bytesIgnored", ["byteCount": byteCount], "ignored \(byteCount) bytes behind the end of the coded body")
    }
}
