import Foundation
import Synchronization

/// One value that the app remembers, in the store that suits it: preferences, keychain, file or database.
///
/// ```swift
/// let theme = Stored<Theme>("theme", in: .preferences())
/// let token = Stored<Secret<String>>("token", in: .keychain(), moved: .from(.preferences()))
/// try await theme.set(.dark)
/// let shown = try await theme.value() ?? .light
/// ```
///
/// ``value()`` returns `nil` for an absent value. For a value that is damaged, or that a later version of the app
/// wrote, it throws an error, and the value stays as it is. A ``Secret`` in preferences or in an open file does not
/// compile.
///
/// Operations on one object run one after the other, and complete even if their caller is cancelled. Create only one
/// object for each value, and move a value in one process only.
public final class Stored<Value: Sendable>: Sendable {
    private struct State {
        var last: Task<Void, Never>?
        var hasMoved = false
    }

    /// The name of the value in its store.
    public let name: String
    private let place: StoredPlace<Value>
    private let former: StoredPlace<Value>?
    /// Guards the end of the last operation, and whether nothing is left in the former store.
    private let state = Mutex(State())

    /// Names a value and its store.
    ///
    /// - Parameters:
    ///   - name: The name in the store, from 1 to 128 bytes of UTF-8. It must not contain `/`, NUL or `.new`, and must
    ///     not begin with a period. Names in one folder must differ by more than case.
    ///   - place: The store.
    ///   - former: The store in which former versions of the app have the value; see `StoredPlace.from(_:named:)`.
    ///     The first operation moves the value: it writes the new store, synchronises it, and then removes the value
    ///     from the former one. A kill at any time loses nothing. If both stores have a value, the one in the new store
    ///     is used. The default, `nil`, moves nothing.
    public init(_ name: String, in place: StoredPlace<Value>, moved former: StoredPlace<Value>? = nil) {
        precondition(
            (1...128).contains(name.utf8.count) && !name.hasPrefix(".") && !name.contains(".new")
                && !name.utf8.contains { [0, UInt8(ascii: "/")].contains($0) },
            "\(name.debugDescription) is no name of a stored value")
        precondition(
            former.map { $0.identity(name) != place.identity(name) } ?? true, "\(name) is moved to its own place")
        (self.name, self.place, self.former) = (name, place, former)
    }

    /// Returns the value; `nil` if there is none.
    ///
    /// - Throws: ``TableError``: ``TableError/Kind/corrupted`` if the value is damaged or of another type,
    ///   ``TableError/Kind/newerSchema`` if a later version wrote it, ``TableError/Kind/keyUnavailable`` if it can't be
    ///   opened, or an error of the store.
    public func value() async throws(TableError) -> Value? {
        try await inTurn { [self] () throws(TableError) in
            let value = try await place.load(name)
            guard let former, !state.withLock({ $0.hasMoved }) else { return value }
            let moved = value == nil ? try await former.load(name) : nil
            if let moved { try await place.save(moved, name) }
            try await leaveFormer()
            return value ?? moved
        }
    }

    /// Replaces the value durably.
    ///
    /// - Throws: ``TableError``: ``TableError/Kind/rejected`` if the value is too large for its store, or could not be
    ///   read back, or an error of the store. The former value then stays. If only the removal from the former store
    ///   fails, its error is thrown although the new value is stored; the next operation repeats the removal.
    public func set(_ value: Value) async throws(TableError) {
        try await inTurn { [self] () throws(TableError) in
            try await place.save(value, name)
            try await leaveFormer()
        }
    }

    /// Removes the value, also from the former store.
    ///
    /// - Throws: ``TableError``, an error of the store.
    public func remove() async throws(TableError) {
        try await inTurn { [self] () throws(TableError) in
            // The value in the former store is removed first: after a kill in between, it would otherwise be moved
            // again.
            try await leaveFormer()
            try await place.remove(name)
        }
    }

    private func leaveFormer() async throws(TableError) {
        guard let former, !state.withLock({ $0.hasMoved }) else { return }
        try await former.remove(name)
        state.withLock { $0.hasMoved = true }
    }

    /// Runs an operation after all operations that began before, in its own task, so that a move always completes.
    private func inTurn<Result: Sendable>(
        _ operation: @escaping @Sendable () async throws(TableError) -> Result
    ) async throws(TableError) -> Result {
        let task = state.withLock { state in
            let last = state.last
            let task = Task { () -> Swift.Result<Result, TableError> in
                await last?.value
                do throws(TableError) { return .success(try await operation()) } catch { return .failure(error) }
            }
            state.last = Task { _ = await task.value }
            return task
        }
        return try await task.value.get()
    }
}
