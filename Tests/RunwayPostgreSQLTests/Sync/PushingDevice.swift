#if PostgreSQL
    import RunwaySyncCore

    /// A device that only pushes, for tests of the store.
    struct PushingDevice {
        let id: Identifier
        private var end = ChainEnd()
        private var random = SystemRandomNumberGenerator()
        private let epoch = Identifier(high: 0, low: 0)

        init() { id = Identifier.version7(at: 0, using: &random) }

        /// Makes the next packet of the device, with one transaction for each list of actions.
        mutating func packet(_ transactions: [[Operation.Action]]) -> Packet {
            Packet(
                device: id,
                transactions: transactions.map { actions in
                    let transaction = Transaction(
                        number: end.number + 1, previous: end.operation,
                        time: HybridTime(milliseconds: 1_790_000_000_000),
                        basis: Basis(epoch: epoch, number: 0),
                        operations: actions.map {
                            Operation(id: Identifier.version7(at: 1_790_000_000_000, using: &random), action: $0)
                        })
                    end = transaction.end
                    return transaction
                })
        }
    }
#endif
