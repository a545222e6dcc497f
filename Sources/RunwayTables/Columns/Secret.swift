public import GRDB
import RunwayJSON

/// The value of a secret column. It is encrypted in the file, and redacted in every description.
///
/// ```swift
/// static let note = Column<Secret<String>>("note")
/// ```
///
/// A secret column can't be compared or sorted by: this does not compile, since the file has no text to compare with. A
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

    /// Returns the secret whose stored value was opened.
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

/// Recognises the type ``Secret`` whatever its value is.
protocol SecretValue {}
extension Secret: SecretValue {}
