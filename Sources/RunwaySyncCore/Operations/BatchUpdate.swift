/// Sets columns of all rows that match, as one operation (rule 14): "all tasks before 1 October are done".
package struct BatchUpdate: Hashable, Sendable {
    package let table: String
    /// The conditions that a row must all meet. If there are none, every row matches.
    package let conditions: [Condition]
    package let values: Columns<SyncValue>

    package init(table: String, where conditions: [Condition], set values: Columns<SyncValue>) {
        (self.table, self.conditions, self.values) = (table, conditions, values)
    }

    /// An estimate of the space that the batch takes, in bytes. Its changes take as many for each row.
    package var byteCount: Int {
        let constants = conditions.reduce(64) { $0 + $1.column.utf8.count + $1.constant.byteCount + 4 }
        return values.reduce(constants) { $0 + $1.name.utf8.count + $1.value.byteCount + 4 }
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.table.isSame(as: right.table) && left.conditions == right.conditions && left.values == right.values
    }

    /// The largest number of rows that a batch may match.
    package static let maximumRows = 10_000

    package enum Comparison: String, Hashable, Sendable {
        case equal = "="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
    }

    /// A comparison of a column with a constant.
    package struct Condition: Hashable, Sendable {
        package let column: String
        package let comparison: Comparison
        package let constant: SyncValue

        package init(_ column: String, _ comparison: Comparison, _ constant: SyncValue) {
            (self.column, self.comparison, self.constant) = (column, comparison, constant)
        }

        package static func == (left: Self, right: Self) -> Bool {
            left.column.isSame(as: right.column) && left.comparison == right.comparison
                && left.constant == right.constant
        }

        /// Whether only one form in JSON meets the condition: a number can be an integer or a real.
        fileprivate var isExact: Bool {
            switch constant {
            case .null, .text, .bytes: comparison == .equal
            case .integer, .real: false
            }
        }

        /// The column and its value as members of an object, or only the name.
        fileprivate var needle: [UInt8] {
            let object = Columns([(column, isExact ? constant : .null)]).encoded()
            return Array(object.dropFirst().dropLast(isExact ? 1 : "null}".utf8.count))
        }

        /// Whether the comparison is true for a value. ``SyncValue/null`` equals itself, and is neither less nor
        /// greater than any value.
        func holds(for value: SyncValue) -> Bool {
            let order = value.compared(to: constant)
            let isEqual = order.map { $0 == 0 } ?? (value == constant)
            return switch comparison {
            case .equal: isEqual
            case .notEqual: !isEqual
            case .less: order.map { $0 < 0 } ?? false
            case .lessOrEqual: order.map { $0 <= 0 } ?? false
            case .greater: order.map { $0 > 0 } ?? false
            case .greaterOrEqual: order.map { $0 >= 0 } ?? false
            }
        }
    }

    /// Bytes that the JSON of every row contains that matches; `nil` if there is no condition. With them a database
    /// leaves out most rows that do not match, and reads the others as JSON.
    package var needle: [UInt8]? {
        conditions.max { ($0.isExact ? 1 : 0, $0.needle.count) < ($1.isExact ? 1 : 0, $1.needle.count) }?.needle
    }

    /// Whether a row is one of the table, exists, has a value for each condition, and meets all conditions.
    package func matches(_ key: RowKey, _ row: Row) -> Bool { key.isIn(table) && matches(row) }

    /// Whether a row of the table exists, has a value for each condition, and meets all conditions.
    package func matches(_ row: Row) -> Bool {
        row.isLive
            && conditions.allSatisfy { condition in
                row.columns[condition.column].map { condition.holds(for: $0.value) } ?? false
            }
    }
}
