public import Foundation
package import RunwayJSON

/// A function of the app that pages call by its name, with a value as input and a value as output.
///
/// ```swift
/// struct OrderQuery: Decodable { let state: String }
///
/// let listOrders = Command("orders.list") { (query: OrderQuery, call) in
///     try await orders.list(state: query.state)               // [Order], where Order is Encodable
/// }
/// let cancelOrder = Command("orders.cancel", isUnsafe: true) { (order: OrderID, call) in
///     try await orders.cancel(order, key: call.idempotencyKey)
/// }
/// ```
///
/// A command runs only for an origin to which a ``Capability`` grants it. <doc:PagesThatCallTheApp> describes which
/// commands to offer.
public struct Command: Sendable {
    /// The name, such as `orders.list`: at most 128 characters.
    public let name: String
    /// Whether the command changes something. A call of it then needs a key press or a tap of the user.
    public let isUnsafe: Bool
    /// Whether the command is a function of the device; see ``Capability/DeviceAccess``.
    public let usesDevice: Bool
    /// The longest time that a call may take, after which it is cancelled. The default is 30 s.
    public let deadline: Duration
    /// The sustained number of calls per second of one document, which is also the largest burst; `nil` for a command
    /// that only ``BridgeLimits/callsPerSecond`` bounds.
    var callsPerSecond: Int?
    /// The reason for which an origin may not call the command, although it was granted.
    var refusal: BridgeError?
    let run: @Sendable (JSONDocument, CommandCall) async throws -> CommandOutput

    /// Declares a command that reads its input and writes its output itself.
    package init(
        _ name: String, isUnsafe: Bool, usesDevice: Bool, deadline: Duration, callsPerSecond: Int? = nil,
        output: @escaping @Sendable (JSONDocument, CommandCall) async throws -> CommandOutput
    ) {
        precondition(!name.isEmpty && name.utf16.count <= 128, "the name of a command has up to 128 characters")
        (self.name, self.isUnsafe, self.usesDevice, self.deadline) = (name, isUnsafe, usesDevice, deadline)
        self.callsPerSecond = callsPerSecond
        run = output
    }

    /// Declares a command.
    ///
    /// - Parameters:
    ///   - name: The name by which pages call it.
    ///   - isUnsafe: Whether it changes something. A call then needs a key press or a tap of the user, and `run` should
    ///     pass ``CommandCall/idempotencyKey`` to the server. The default is `false`.
    ///   - usesDevice: Whether it is a function of the device. The default is `false`.
    ///   - deadline: The longest time that a call may take. The default is 30 s.
    ///   - run: Performs the command. Its task is cancelled when the page cancels the call, when the user leaves the
    ///     page, or when the page crashes. Throw a ``BridgeError`` to let the page know the reason of a failure. If any
    ///     other error is thrown, the page receives ``BridgeError/Kind/failed`` only.
    public init<Input: Decodable & Sendable, Output: Encodable & Sendable>(
        _ name: String, isUnsafe: Bool = false, usesDevice: Bool = false, deadline: Duration = .seconds(30),
        run: @escaping @Sendable (_ input: Input, _ call: CommandCall) async throws -> Output
    ) {
        self.init(name, isUnsafe: isUnsafe, usesDevice: usesDevice, deadline: deadline) { document, call in
            let output = try await run(try Self.read(document), call)
            return output is NoValue ? .json(Array("null".utf8)) : .json(try Self.encode(output))
        }
    }

    /// Declares a command whose output is bytes, such as a picture, which the page receives as an `ArrayBuffer`.
    ///
    /// In Chromium, and in the pages of a bundle, the page loads the bytes as a response under its own origin. In a
    /// remote page of a `WKWebView` they arrive as base64 in chunks of at most 1 MB, one at a time. The parameters are
    /// those of ``init(_:isUnsafe:usesDevice:deadline:run:)``.
    public init<Input: Decodable & Sendable>(
        bytes name: String, isUnsafe: Bool = false, usesDevice: Bool = false, deadline: Duration = .seconds(30),
        run: @escaping @Sendable (_ input: Input, _ call: CommandCall) async throws -> Data
    ) {
        self.init(name, isUnsafe: isUnsafe, usesDevice: usesDevice, deadline: deadline) { document, call in
            .bytes(try await run(try Self.read(document), call))
        }
    }

    static func read<Input: Decodable>(_ document: JSONDocument) throws(BridgeError) -> Input {
        do { return try JSONDocumentDecoder().decode(Input.self, from: document) } catch {
            throw BridgeError(.invalidInput, "The input of the command is not of its type: \(Self.place(of: error)).")
        }
    }

    /// Returns the path of the member that could not be read, without its value.
    private static func place(of error: any Error) -> String {
        let path: [any CodingKey] =
            switch error as? DecodingError {
            case .keyNotFound(let key, let context): context.codingPath + [key]
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                context.codingPath
            default: []
            }
        return path.isEmpty ? "see its declaration" : "see \(path.map(\.stringValue).joined(separator: "."))"
    }

    static func encode(_ value: some Encodable) throws(BridgeError) -> [UInt8] {
        do { return Array(try JSONEncoder().encode(value)) } catch {
            throw BridgeError(.failed, "The output of the command can't be written.")
        }
    }
}

/// The input of a command that needs none, or the output of one that returns none.
public struct NoValue: Codable, Sendable {
    /// Creates the only value.
    public init() {}
}

/// The output of a command.
package enum CommandOutput: Sendable {
    case json([UInt8])
    case bytes(Data)
}

/// One call of a command by a page.
public struct CommandCall: Sendable {
    /// The origin of the page.
    public let origin: Origin
    /// Identifies this call, for requests to servers that must not take effect twice. If the page calls again, that
    /// call has another key.
    public let idempotencyKey: String
    /// Sends a value that is JSON already; see ``send(_:)``.
    package let sendPart: @Sendable ([UInt8]) async throws(BridgeError) -> Void

    /// Sends a value to the page before the output: the page receives it as progress of `runway.call`, or as a value of
    /// `runway.stream`.
    ///
    /// Waits while the page has not yet received several values that were sent before; see ``BridgeLimits/partsAhead``.
    ///
    /// - Throws: ``BridgeError/Kind/ended`` or ``BridgeError/Kind/cancelled`` if the call is over.
    public func send(_ value: some Encodable & Sendable) async throws(BridgeError) {
        try await sendPart(try Command.encode(value))
    }
}
