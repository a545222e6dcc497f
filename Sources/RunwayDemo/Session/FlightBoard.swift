import Runway
import Synchronization

/// Keeps what the layer tells of every call, for the report.
final class FlightBoard: EventSink {
    /// Guards the records, by the number of the call.
    private let kept = Mutex<[FlightID: FlightRecord]>([:])

    var records: [FlightRecord] { kept.withLock { $0.values.sorted { $0.id < $1.id } } }

    func receive(_ record: FlightRecord) {
        kept.withLock { $0[record.id] = record }
    }
}
