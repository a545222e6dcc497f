#if PostgreSQL
    import RunwayLibPQ
    import RunwaySyncCore

    /// A statement with its parameters.
    struct PostgreSQLCommand {
        let statement: String
        let parameters: [PostgreSQLParameter]

        init(_ statement: String, _ parameters: [PostgreSQLParameter] = []) {
            (self.statement, self.parameters) = (statement, parameters)
        }
    }

    /// A parameter in PostgreSQL's binary format. Bytes need no text around them, and arrays pass many rows.
    struct PostgreSQLParameter {
        /// The type, by its number in PostgreSQL's catalogue.
        let type: UInt32
        /// The value; `nil` for NULL.
        let bytes: [UInt8]?

        private init(_ type: UInt32, _ bytes: [UInt8]?) { (self.type, self.bytes) = (type, bytes) }

        static func text(_ text: String) -> Self { Self(25, Array(text.utf8)) }
        static func integer(_ number: Int64) -> Self { Self(20, Self.bytes { $0.append(number) }) }
        static func id(_ id: Identifier?) -> Self { Self(2950, id.map { id in Self.bytes { $0.append(id) } }) }
        static func bytes(_ bytes: [UInt8]?) -> Self { Self(17, bytes) }

        static func integers(_ numbers: [Int64]) -> Self {
            array(1016, of: 20, numbers) { number, bytes in
                bytes.append(Int32(8))
                bytes.append(number)
            }
        }

        static func ids(_ ids: [Identifier]) -> Self {
            array(2951, of: 2950, ids) { id, bytes in
                bytes.append(Int32(16))
                bytes.append(id)
            }
        }

        static func lists(_ lists: [[UInt8]?]) -> Self {
            array(1001, of: 17, lists) { list, bytes in
                // The length -1 is NULL.
                bytes.append(Int32(list?.count ?? -1))
                bytes += list ?? []
            }
        }

        /// Makes an array with one dimension, whose first index is 1.
        private static func array<Element>(
            _ type: UInt32, of elementType: Int32, _ elements: [Element], _ append: (Element, inout [UInt8]) -> Void
        ) -> Self {
            Self(
                type,
                bytes { bytes in
                    for word in [elements.isEmpty ? 0 : 1, 0, elementType] { bytes.append(word) }
                    if elements.isEmpty { return }
                    for word in [Int32(elements.count), 1] { bytes.append(word) }
                    for element in elements { append(element, &bytes) }
                })
        }

        private static func bytes(_ fill: (inout [UInt8]) -> Void) -> [UInt8] {
            var bytes: [UInt8] = []
            fill(&bytes)
            return bytes
        }
    }

    extension [UInt8] {
        /// Appends the bytes of an integer in network order.
        fileprivate mutating func append(_ number: some FixedWidthInteger) {
            Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
        }

        fileprivate mutating func append(_ id: Identifier) {
            append(id.high)
            append(id.low)
        }
    }

    /// The rows that a statement returned, in the binary format.
    final class PostgreSQLResult {
        private let result: OpaquePointer

        fileprivate init(_ result: OpaquePointer) { self.result = result }

        deinit { PQclear(result) }

        /// The number of rows.
        var count: Int { Int(PQntuples(result)) }
        var columnCount: Int { Int(PQnfields(result)) }

        /// Returns the size of a value in bytes; 0 for NULL.
        func length(_ row: Int, _ column: Int) -> Int { Int(PQgetlength(result, Int32(row), Int32(column))) }

        /// Returns the bytes of a value; `nil` for NULL.
        func bytes(_ row: Int, _ column: Int) -> [UInt8]? {
            bytes(row, column) { Array($0) }
        }

        /// Returns an integer of 8 bytes; 0 for any other value.
        func integer(_ row: Int, _ column: Int) -> Int64 {
            bytes(row, column) { $0.count == 8 ? Int64(bigEndian: $0.loadUnaligned(as: Int64.self)) : 0 } ?? 0
        }

        /// Returns a UUID; zeros for any other value.
        func id(_ row: Int, _ column: Int) -> Identifier {
            bytes(row, column) { bytes in
                func word(_ offset: Int) -> UInt64 {
                    UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                }
                return bytes.count == 16 ? Identifier(high: word(0), low: word(8)) : nil
            }.flatMap { $0 } ?? Identifier(high: 0, low: 0)
        }

        private func bytes<Value>(_ row: Int, _ column: Int, _ read: (UnsafeRawBufferPointer) -> Value) -> Value? {
            if PQgetisnull(result, Int32(row), Int32(column)) == 1 { return nil }
            let start = PQgetvalue(result, Int32(row), Int32(column))
            return read(UnsafeRawBufferPointer(start: start, count: length(row, column)))
        }
    }

    extension PostgreSQLConnection {
        /// Runs statements in one round trip. If one fails, the server skips those after it.
        ///
        /// - Returns: The results, one for each statement.
        /// - Throws: ``PostgreSQLError`` of the first statement that failed.
        @discardableResult
        func run(_ commands: [PostgreSQLCommand]) throws(PostgreSQLError) -> [PostgreSQLResult] {
            if commands.isEmpty { return [] }
            guard PQenterPipelineMode(connection) == 1, commands.allSatisfy(send), PQpipelineSync(connection) == 1
            else {
                throw .connectionLoss
            }
            var results: [PostgreSQLResult] = []
            var failure: PostgreSQLError?
            for _ in commands {
                // The results of a statement end with a null pointer.
                while let pointer = PQgetResult(connection) {
                    let result = PostgreSQLResult(pointer)
                    switch PQresultStatus(pointer) {
                    case PGRES_COMMAND_OK, PGRES_TUPLES_OK: results.append(result)
                    default: failure = failure ?? PostgreSQLError(of: pointer)
                    }
                    guard isOpen else { throw .connectionLoss }
                }
            }
            PQclear(PQgetResult(connection))
            guard PQexitPipelineMode(connection) == 1 else { throw .connectionLoss }
            if let failure { throw failure }
            return results
        }

        private func send(_ command: PostgreSQLCommand) -> Bool {
            let parameters = command.parameters
            // One buffer holds all values. Its last byte makes sure that an empty value has an address.
            var (buffer, offsets) = ([UInt8](), [Int]())
            for parameter in parameters {
                offsets.append(buffer.count)
                buffer += parameter.bytes ?? []
            }
            buffer.append(0)
            return buffer.withUnsafeBytes { bytes in
                let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                let values = zip(parameters, offsets).map { parameter, offset in
                    parameter.bytes == nil ? nil : start.map { $0 + offset }
                }
                return PQsendQueryParams(
                    connection, command.statement, Int32(parameters.count), parameters.map(\.type), values,
                    parameters.map { Int32($0.bytes?.count ?? 0) }, parameters.map { _ in 1 }, 1) == 1
            }
        }
    }
#endif
