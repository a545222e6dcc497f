import Foundation
import RunwayJSON

/// A function of the app that a script in a verified bundle may replace.
///
/// ```swift
/// static let rows = PatchPoint("orders.rows", version: 3) { (listing: Listing) in
///     listing.items.map { Row(title: $0.name) }
/// }
/// ```
///
/// Call it like a function: `rows(listing)`. As long as no script patches it and no calls are recorded, that costs one
/// atomic load more than the function. A script patches it by name and version:
///
/// ```js
/// patch("orders.rows", 3, listing => listing.items.map(item => ({ title: item.name })))
/// ```
///
/// Input and output cross as JSON: dates as seconds since 2001-01-01, data as Base64, and integers beyond 2^53 lose
/// digits in a script. If the script throws, returns a value of another type or exceeds its deadline, the call returns
/// the native function's result.
///
/// Declare points for how data are converted and shown. Never declare one for what the user is permitted to do, for
/// trust, or for how a response is judged.
public struct PatchPoint<Input: Codable & Sendable, Output: Codable & Sendable, Failure: Error>: Sendable {
    @usableFromInline let slot: PatchSlot
    @usableFromInline let native: @Sendable (Input) throws(Failure) -> Output

    /// Declares a point. It has no effect until ``ScriptRuntime/open(_:)`` is called with it.
    ///
    /// - Parameters:
    ///   - name: The name that scripts use, unique in the app.
    ///   - version: The version of input, output and meaning. Scripts for other versions don't patch the point.
    ///   - native: The function of the app.
    public init(_ name: String, version: Int, native: @escaping @Sendable (Input) throws(Failure) -> Output) {
        let function = NativeFunction(Output.self) { arguments, _ in
            guard arguments.count == 1 else { return nil }
            let input = try JSONDocumentDecoder().decode(Input.self, from: arguments[0])
            return { try native(input) }
        }
        slot = PatchSlot(name: name, version: version, native: function)
        self.native = native
    }

    /// Calls the script that patches the point, or the native function.
    ///
    /// Waits for a script at most 8 ms on the main thread and 200 ms on others. Encodes the input and decodes
    /// the result on the caller's thread, outside that time; a result of more than 64 KiB on the main thread, or 4 MiB
    /// on others, is a failure of the script. The native function runs on the caller's thread, too.
    ///
    /// - Throws: The native function's error.
    @inlinable
    public func callAsFunction(_ input: Input) throws(Failure) -> Output {
        if slot.isDirect { return try native(input) }
        return try indirect(input)
    }

    @usableFromInline
    func indirect(_ input: Input) throws(Failure) -> Output {
        try slot.call({ [Array(try JSONEncoder().encode(input))] }) { () throws(Failure) in try native(input) }
    }
}
