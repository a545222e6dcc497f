import Foundation
import Runway
import RunwayStreams
import RunwayTransport
import Synchronization

/// A network layer for one stream or WebSocket.
struct ListenSession: Sendable {
    private let network: NetworkLayer
    private let transport: NIOTransport
    private let watch = ConnectionWatch()

    /// - Throws: ``CommandFailure`` if certificates or the proxy can't be used.
    init(_ connection: ConnectionOptions, to target: CallTarget) throws(CommandFailure) {
        transport = try NIOTransport(connection.configuration(for: target.host), cacert: connection.cacert)
        network = NetworkLayer(
            name: "listen", transport: transport, sinks: [watch],
            limits: LayerLimits(admission: .none, retrying: .none))
        network.configure(CalledServer.self) { settings in
            settings.deadline = connection.limit
            settings.environment = "listened"
            settings.baseURLs["listened"] = "\(target.scheme)://\(target.authority)"
        }
    }

    /// Prints the events of a stream until it ends or `count` events have arrived.
    func follow(_ request: ListenRequest, after id: String?, count: Int?, _ printer: ListenPrinter) async throws {
        let cursors = MemoryStreamCursorStore()
        if let id { cursors.store(StreamCursor(stream: "", lastEventID: id), for: "listen") }
        let events = network.events(of: request, cursors: cursors, key: "listen")
        watch.onFailure { events.stop() }
        var rest = count ?? .max
        try await ending { () async throws in
            for try await element in events {
                if case .continuity = element { watch.connected() }
                try printer.print(element)
                guard case .event = element else { continue }
                rest -= 1
                if rest == 0 { return }
            }
        }
    }

    /// Prints the messages of a WebSocket until it ends or `count` messages have arrived.
    func follow(webSocket request: ListenRequest, count: Int?, _ printer: ListenPrinter) async throws {
        let messages = network.webSocket(request)
        watch.onFailure { messages.close() }
        var rest = count ?? .max
        try await ending { () async throws in
            do {
                for try await element in messages {
                    if case .connected = element { watch.connected() }
                    try printer.print(element)
                    guard case .message = element else { continue }
                    rest -= 1
                    if rest == 0 { return }
                }
            } catch let error as NetworkError {
                if let frame = messages.closeFrame { try printer.print(frame) }
                throw error
            }
            if let frame = messages.closeFrame { try printer.print(frame) }
        }
    }

    /// Runs `read`, and closes the connections. Throws the error that the command ends with, if there is one.
    private func ending(_ read: () async throws -> Void) async throws {
        var failure: (any Error)?
        do { try await read() } catch { failure = error }
        await transport.shutdown(waitingAtMost: .zero)
        guard let error = failure as? NetworkError ?? (failure == nil ? watch.failure : nil) else {
            if let failure { throw failure }
            return
        }
        let hasResponse = error.status != nil || [.refused, .unreadable].contains(error.kind.obstacle)
        throw CommandFailure(error.description, status: hasResponse ? ExitStatus.refused : ExitStatus.noResponse)
    }
}

/// Ends the command if the first connection fails, and reports the failures of later connections.
private final class ConnectionWatch: EventSink {
    private struct State {
        var hasConnected = false
        var failure: NetworkError?
        var onFailure: (@Sendable () -> Void)?
    }

    /// Guards whether a connection succeeded, and the failure of the first connection.
    private let state = Mutex(State())

    /// The reason why the first connection failed; `nil` if it succeeded.
    var failure: NetworkError? { state.withLock { $0.failure } }

    func connected() { state.withLock { $0.hasConnected = true } }

    func onFailure(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.onFailure = action } }

    func receive(_ record: FlightRecord) {
        guard record.endpoint == "listen", let error = record.outcome.error, error.kind != .cancelled else { return }
        let (hasConnected, action) = state.withLock { state in
            if !state.hasConnected { state.failure = state.failure ?? error }
            return (state.hasConnected, state.onFailure)
        }
        // The stream ends by itself after a refusal, or if a body can't be decoded.
        if error.isUndecodable { return }
        if hasConnected {
            Console.error.remark("The connection is opened again: \(error.description)")
        } else {
            action?()
        }
    }
}
