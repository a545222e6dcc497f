#if Command
    import Runway
    import Synchronization

    /// Stores the records of all flights, for the report.
    final class FlightBoard: EventSink {
        private struct State {
            var calls: [FlightID: FlightRecord] = [:]
            var envelopes: [FlightID: FlightRecord] = [:]
        }

        /// Guards the records, by their numbers.
        private let state = Mutex(State())
        private let onRecord: @Sendable () -> Void

        /// Creates an empty board.
        ///
        /// - Parameter onRecord: Called after every record, on the layer's thread for them.
        init(onRecord: @escaping @Sendable () -> Void) {
            self.onRecord = onRecord
        }

        /// The records of the calls, in the order of asking.
        var calls: [FlightRecord] { state.withLock { $0.calls.values.sorted { $0.id < $1.id } } }

        /// The records of the flights that belong to no call, since they carried several.
        var envelopes: [FlightRecord] { state.withLock { $0.envelopes.values.sorted { $0.id < $1.id } } }

        var callCount: Int { state.withLock { $0.calls.count } }

        func receive(_ record: FlightRecord) {
            let isEnvelope = record.decisions(of: MergeDecision.self).contains {
                if case .carries = $0 { true } else { false }
            }
            state.withLock { state in
                if isEnvelope { state.envelopes[record.id] = record } else { state.calls[record.id] = record }
            }
            onRecord()
        }
    }
#endif
