import HTTPTypes
public import RunwayTesting

enum ResponseStep: Sendable {
    case send([UInt8])
    case pause(ScriptedPause)
    /// Ends the connection. Later steps are not performed. The ending is never `automatic`.
    case end(ScriptedResponse.Ending)
}

extension ScriptedResponse {
    /// Returns the steps of the response to a request. Without an `end` step, the connection stays open.
    func steps(responding method: HTTPRequest.Method, reuse: Bool) -> [ResponseStep] {
        let closes = closesByRule(responding: method, reuse: reuse)
        var steps: [ResponseStep] = []
        for _ in 0..<copies {
            steps += pausing(at: .beforeAnything)
            for (status, fields) in informational { steps.append(.send(Self.head(status: status, fields: fields))) }
            steps += pausing(at: .beforeHead)
            steps += tornIfCut(head: headBytes(closes: closes), body: bodySteps(responding: method))
            if cut != nil { break }
        }
        if cut == nil {
            if ending != .automatic {
                steps.append(.end(ending))
            } else if closes {
                steps.append(.end(.close))
            }
        }
        return drip.map { dripping(steps, $0) } ?? steps
    }

    private func pausing(at point: PausePoint) -> [ResponseStep] {
        pauses.filter { $0.point == point }.map { .pause($0.pause) }
    }

    /// Whether the connection is closed after a response whose ending is `automatic`.
    private func closesByRule(responding method: HTTPRequest.Method, reuse: Bool) -> Bool {
        guard reuse, headerFields[.connection]?.lowercased() != "close" else { return true }
        guard allowsBody(responding: method) else { return false }
        switch framing {
        case .length, .chunked: return false
        case .declaredLength(let length): return length > chunks.reduce(0) { $0 + $1.count }
        case .brokenChunk, .chunkedWithoutEnd, .untilClose: return true
        }
    }

    /// Returns whether the response to a method may have a body (RFC 9110 §6.4.1).
    private func allowsBody(responding method: HTTPRequest.Method) -> Bool {
        !hasHead || (method != .head && status.code >= 200 && status.code != 204 && status.code != 304)
    }

    // MARK: Bytes

    private static func head(status: HTTPResponse.Status, fields: HTTPFields, rawLines: [String] = []) -> [UInt8] {
        var bytes = Array("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n".utf8)
        for field in fields {
            bytes += Array("\(field.name.rawName): ".utf8)
            field.withUnsafeBytesOfValue { bytes += $0 }
            bytes += [13, 10]
        }
        for line in rawLines { bytes += Array(line.utf8) + [13, 10] }
        return bytes + [13, 10]
    }

    private func headBytes(closes: Bool) -> [UInt8] {
        guard hasHead else { return [] }
        var fields = headerFields
        switch framing {
        case _ where fields[.contentLength] != nil || fields[.transferEncoding] != nil: break
        case .length where status.code == 204 || status.code < 200: break
        case .length: fields[.contentLength] = String(chunks.reduce(0) { $0 + $1.count })
        case .declaredLength(let length): fields[.contentLength] = String(length)
        case .chunked, .brokenChunk, .chunkedWithoutEnd: fields[.transferEncoding] = "chunked"
        case .untilClose: break
        }
        if ending == .automatic, closes, fields[.connection] == nil { fields[.connection] = "close" }
        return Self.head(status: status, fields: fields, rawLines: rawHeaderLines)
    }

    private func bodySteps(responding method: HTTPRequest.Method) -> [ResponseStep] {
        guard allowsBody(responding: method) else { return pausing(at: .beforeEnd) }
        var steps: [ResponseStep] = []
        for (index, chunk) in chunks.enumerated() {
            if index > 0 { steps += pausing(at: .betweenChunks) }
            steps += pausing(at: .beforeChunk(index))
            steps.append(.send(framed(chunk, index: index)))
        }
        steps += pausing(at: .beforeEnd)
        if framing == .chunked || isBrokenChunk { steps.append(.send(Array("0\r\n\r\n".utf8))) }
        return steps
    }

    private var isBrokenChunk: Bool {
        if case .brokenChunk = framing { return true }
        return false
    }

    private func framed(_ chunk: [UInt8], index: Int) -> [UInt8] {
        switch framing {
        case .length, .declaredLength, .untilClose: return chunk
        case .chunked, .brokenChunk, .chunkedWithoutEnd:
            // An empty chunk would mark the end of the body.
            if chunk.isEmpty { return [] }
            let size = framing == .brokenChunk(index) ? "not a size" : String(chunk.count, radix: 16)
            return Array("\(size)\r\n".utf8) + chunk + [13, 10]
        }
    }

    // MARK: Tearing and dripping

    private func tornIfCut(head: [UInt8], body: [ResponseStep]) -> [ResponseStep] {
        guard let cut else { return [.send(head)] + body }
        if case .headBytes(let count) = cut.point, count < head.count {
            return [.send(Array(head.prefix(max(0, count)))), .end(cut.ending)]
        }
        guard case .bodyBytes(var remaining) = cut.point else { return [.send(head)] + [.end(cut.ending)] }
        var steps: [ResponseStep] = [.send(head)]
        for step in body {
            guard case .send(let bytes) = step else {
                steps.append(step)
                continue
            }
            steps.append(.send(Array(bytes.prefix(max(0, remaining)))))
            remaining -= bytes.count
            if remaining <= 0 { break }
        }
        return steps + [.end(cut.ending)]
    }

    private func dripping(_ steps: [ResponseStep], _ drip: Drip) -> [ResponseStep] {
        var dripped: [ResponseStep] = []
        var isFirst = true
        for step in steps {
            guard case .send(let bytes) = step else {
                dripped.append(step)
                continue
            }
            for start in stride(from: 0, to: bytes.count, by: drip.bytes) {
                if !isFirst { dripped.append(.pause(drip.pause)) }
                isFirst = false
                dripped.append(.send(Array(bytes[start..<min(start + drip.bytes, bytes.count)])))
            }
        }
        return dripped
    }
}

/// An event for which a scripted response waits before it continues.
public struct ScriptedPause: Sendable {
    private let wait: @Sendable () async throws -> Void

    /// Waits for `duration` on `clock`. With a `ManualClock`, the test decides when the time has passed.
    public static func delay(_ duration: Duration, on clock: any Clock<Duration>) -> ScriptedPause {
        ScriptedPause { try await clock.sleep(for: duration) }
    }

    /// Waits until the test opens `gate`.
    public static func gate(_ gate: ScriptedGate) -> ScriptedPause {
        ScriptedPause { try await gate.pass() }
    }

    private init(wait: @escaping @Sendable () async throws -> Void) { self.wait = wait }

    func callAsFunction() async throws { try await wait() }
}
