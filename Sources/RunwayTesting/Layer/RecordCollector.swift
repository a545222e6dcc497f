public import Runway
import Synchronization

/// A sink that stores every record, so that a test can check them.
///
/// A record may reach the sink after its call has ended. Wait with ``records(count:within:)``, or call
/// `network.flushRecords()` before you read ``records``. An amended record replaces the earlier one.
public final class RecordCollector: EventSink {
    /// Guards the records.
    private let collected = Mutex<[FlightRecord]>([])
    private let count = AwaitedValue(0)

    /// Creates an empty collector.
    public init() {}

    /// The records so far, in the order in which the calls ended.
    public var records: [FlightRecord] { collected.withLock { $0 } }

    /// Stores a record, or replaces the earlier version of an amended one.
    public func receive(_ record: FlightRecord) {
        let total = collected.withLock { records in
            let index =
                record.isAmendment
                ? records.lastIndex { $0.id == record.id && $0.network == record.network } : nil
            if let index {
                records[index] = record
            } else {
                records.append(record)
            }
            return records.count
        }
        count.update { $0 = total }
    }

    /// Waits until there are at least `count` records, and returns all of them.
    ///
    /// - Parameters:
    ///   - count: The number of records to wait for.
    ///   - limit: The maximum wait, in real time. The default is 60 s.
    /// - Throws: An error after `limit`, and `CancellationError` if the task is cancelled.
    public func records(count: Int, within limit: Duration = .seconds(60)) async throws -> [FlightRecord] {
        try await self.count.wait(atLeast: count, within: limit, subject: "records")
        return records
    }
}
