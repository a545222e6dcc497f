import GRDB

/// One column of a table, with the type of its values. Inside a ``TableDefinition`` its name is `Column`.
///
/// ```swift
/// static let title = Column<String>("title") { !$0.isEmpty }
/// static let done = Column<Bool>("done", default: false)
/// static let due = Column<Date?>("due")
/// ```
public struct TableColumn<Table: TableDefinition, Value>: Sendable {
    let facts: ColumnFacts

    /// The name in the file.
    public var name: String { facts.name }
}

extension TableColumn where Value: ColumnValue {
    /// Declares a column that is never NULL.
    ///
    /// - Parameters:
    ///   - name: The name in the file.
    ///   - value: The value of a row that is inserted without one. The default, `nil`, makes the value required.
    ///   - isValid: Whether a value may be written; an invalid one is refused. The default accepts all.
    public init(_ name: String, default value: Value? = nil, isValid: (@Sendable (Value) -> Bool)? = nil) {
        facts = ColumnFacts(name, Value.self, default: value, isNullable: false, isValid: isValid)
    }
}

extension TableColumn {
    /// Declares a column that may be NULL. A row that is inserted without a value has NULL.
    ///
    /// - Parameters:
    ///   - name: The name in the file.
    ///   - value: The value of a row that is inserted without one. The default is NULL.
    ///   - isValid: Whether a value other than NULL may be written. The default accepts all.
    public init<Wrapped: ColumnValue>(
        _ name: String, default value: Wrapped? = nil, isValid: (@Sendable (Wrapped) -> Bool)? = nil
    ) where Value == Wrapped? {
        facts = ColumnFacts(name, Wrapped.self, default: value, isNullable: true, isValid: isValid)
    }
}

/// A column without the type of its values.
struct ColumnFacts: Sendable {
    let name: String
    let type: Database.ColumnType
    let isNullable: Bool
    let isSecret: Bool
    let isFile: Bool
    /// The value that a new row has if none is set.
    let defaultValue: DatabaseValue?
    /// Whether a value in the file can be read as the column's type.
    let isReadable: @Sendable (DatabaseValue) -> Bool
    /// Whether a value other than NULL may be written; `nil` if all may.
    let isValid: (@Sendable (DatabaseValue) -> Bool)?

    init<Value: ColumnValue>(
        _ name: String, _ type: Value.Type, default value: Value?, isNullable: Bool,
        isValid: (@Sendable (Value) -> Bool)?
    ) {
        self.name = name
        self.type = Value.columnType
        self.isNullable = isNullable
        isSecret = Value.self is any SecretValue.Type
        isFile = Value.self == StoredFile.self
        precondition(Value.self != Secret<StoredFile>.self, "the column \(name) of files is secret: it has only names")
        defaultValue = value.map { value in
            guard let stored = value.storedValue else { preconditionFailure("the default of \(name) can't be stored") }
            return stored
        }
        precondition(!isSecret || defaultValue == nil, "the secret column \(name) has a default, which can't be sealed")
        isReadable = { Value.value(of: $0) != nil }
        if let isValid {
            self.isValid = { stored in Value.value(of: stored).map { isValid($0) } ?? false }
        } else {
            self.isValid = nil
        }
    }

    /// The form in which the column writes its values.
    var form: ColumnForm {
        switch type {
        case .integer: ColumnForm(storage: .integer, isNullable: isNullable)
        case .real: ColumnForm(storage: .real, isNullable: isNullable)
        case .text: ColumnForm(storage: .text, isNullable: isNullable)
        default: ColumnForm(storage: .blob, isNullable: isNullable)
        }
    }
}

/// The form of a column's values in the file, for a check of each value that is read.
struct ColumnForm: BitwiseCopyable {
    enum Storage { case integer, real, text, blob }

    let storage: Storage
    let isNullable: Bool

    func matches(_ value: DatabaseValue) -> Bool {
        switch value.storage {
        case .null: isNullable
        case .int64: storage == .integer
        case .double: storage == .real
        case .string: storage == .text
        case .blob: storage == .blob
        }
    }
}
