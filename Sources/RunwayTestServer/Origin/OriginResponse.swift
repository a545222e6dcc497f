import HTTPTypes
import NIOCore

/// Gives one response on a connection: performs its steps in order.
struct OriginResponse {
    /// What the connection is good for after a response.
    enum Outcome: Sendable {
        case next
        case over
    }

    let channel: any Channel

    /// Makes up the response and gives it.
    ///
    /// A response that can't be given, because the connection ended, is over.
    func give(_ answer: ScriptedReply, to request: ReceivedRequest) async -> Outcome {
        let response: ScriptedResponse
        switch answer {
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
            // The client left, the origin is shutting down, or a clock would not sleep: nothing more can be said.
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
