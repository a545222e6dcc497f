public import GRDB
import RunwayJSON

/// The value of a secret column. It is encrypted in the file, and redacted in every description.
///
/// ```swift
/// static let note = Column<Secret<String>>("note")
/// ```
///
/// A condition on a secret column, or an order by one, does not compile, since the file has only the sealed value. A
/// store with such a column needs a sealing (``RecordStore/Options/sealing``).
public struct Secret<Value: ColumnValue>: ColumnValue {
    /// The value in clear text.
    public let value: Value

    /// Hides a value from descriptions.
    public init(_ value: Value) { self.value = value }

    /// The type of the column: BLOB, the sealed value.
    public static var columnType: Database.ColumnType { .blob }
    /// The value in clear text, before it is sealed; `nil` if it can't be stored without loss.
    public var storedValue: DatabaseValue? { value.storedValue }

    /// Returns the secret of a value that was opened.
    public static func value(of stored: DatabaseValue) -> Secret? { Value.value(of: stored).map { Secret($0) } }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always the same text.
    public var description: String { JSONRedaction.mask }
    /// Always the same text.
    public var debugDescription: String { JSONRedaction.mask }
    /// No children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Identifies ``Secret`` types, whatever the type of their value.
protocol SecretValue {}
extension Secret: SecretValue {}
