import HTTPTypes
import NIOCore

/// Performs the steps of one response on a connection, in order.
struct OriginResponse {
    /// Whether the connection can be used after the response.
    enum Outcome: Sendable {
        case next
        case over
    }

    let channel: any Channel

    /// Creates and sends the response. If the connection ends, the response ends, too.
    func send(_ reply: ScriptedReply, to request: ReceivedRequest) async -> Outcome {
        let response: ScriptedResponse
        switch reply {
        case .response(let scripted): response = scripted
        case .closure(let closure):
            do {
                response = try await closure(request)
            } catch {
                response = .text("The scripted closure threw: \(error)\n", status: .internalServerError)
            }
        }
        return await perform(response.steps(responding: request.method, reuse: request.allowsReuse))
    }

    /// Performs `steps` until one of them, or the client, ends the connection.
    func perform(_ steps: [ResponseStep]) async -> Outcome {
        do {
            for step in steps {
                switch step {
                case .send(let bytes):
                    if !bytes.isEmpty { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get() }
                case .pause(let pause): try await pause()
                case .end(let ending):
                    try await end(ending)
                    return .over
                }
            }
            return .next
        } catch {
            // Nothing more can be sent, since the client disconnected, the origin is shutting down, or a clock threw.
            channel.close(promise: nil)
            return .over
        }
    }

    private func end(_ ending: ScriptedResponse.Ending) async throws {
        switch ending {
        case .automatic, .close: try await channel.close().get()
        case .closeAbruptly: try await channel.triggerUserOutboundEvent(SocketEnding.closed).get()
        case .reset: try await channel.triggerUserOutboundEvent(SocketEnding.reset).get()
        case .halfClose: try await channel.close(mode: .output).get()
        case .stayOpen: break
        }
    }
}
