import HTTPTypes
import NIOCore

/// Sends one response on a connection: performs its steps in order.
struct OriginResponse {
    /// Whether the connection can be used after a response.
    enum Outcome: Sendable {
        case next
        case over
    }

    let channel: any Channel

    /// Creates the response and sends it.
    ///
    /// A response that can't be sent, because the connection ended, has ended.
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

    /// Performs `steps` until one ends the connection or the connection ends by itself.
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
            // The client disconnected, the origin is shutting down, or a clock threw: nothing more can be sent.
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
