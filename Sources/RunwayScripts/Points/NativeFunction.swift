import Foundation
import Runway
import RunwayJSON

/// The outcome of a call of a native function.
enum NativeResult: Sendable, Equatable {
    /// The result as JSON.
    case returned([UInt8])
    /// The name of the error's type. Its description may contain what a person wrote.
    case threw(String)
}

/// The native function of a point, for rehearsals, which have its arguments and results as JSON.
struct NativeFunction: Sendable {
    /// Calls the function. Returns `nil` if the arguments can't be decoded, or if `endpoints` has no endpoint of their
    /// type.
    let call: @Sendable (_ arguments: [[UInt8]], _ endpoints: [any Endpoint]) -> (result: NativeResult, time: Duration)?
    /// Decodes a script's result as a call does, and encodes it again. Throws the decoder's error.
    let normalized: @Sendable (_ result: [UInt8]) throws -> [UInt8]

    /// - Parameter prepare: Decodes the arguments. Returns the call, or `nil` if there is no endpoint for it.
    init<Output: Codable & SendableMetatype>(
        _ type: Output.Type,
        _ prepare: @escaping @Sendable ([[UInt8]], [any Endpoint]) throws -> (() throws -> Output)?
    ) {
        call = { arguments, endpoints in
            guard let function = try? prepare(arguments, endpoints) else { return nil }
            let begin = ContinuousClock.now
            do {
                let output = try function()
                let time = ContinuousClock.now - begin
                return (.returned(Array(try JSONEncoder().encode(output))), time)
            } catch {
                return (.threw("\(Swift.type(of: error))"), ContinuousClock.now - begin)
            }
        }
        normalized = { Array(try JSONEncoder().encode(try JSONDocumentDecoder().decode(type, from: $0))) }
    }
}
