public import HTTPTypes
public import RunwayTesting

extension ScriptedResponse {
    /// Returns a copy of this response that waits at `gate` before its head.
    public func held(by gate: ScriptedGate) -> ScriptedResponse { pausing(.beforeHead, .gate(gate)) }

    /// Returns a copy of this response with a delay of `duration` on `clock` before its head.
    public func delayed(by duration: Duration, on clock: any Clock<Duration>) -> ScriptedResponse {
        pausing(.beforeHead, .delay(duration, on: clock))
    }

    /// Returns a copy of this response with an additional pause. Several pauses at one point follow one another.
    public func pausing(_ point: PausePoint, _ pause: ScriptedPause) -> ScriptedResponse {
        with { $0.pauses.append((point, pause)) }
    }

    /// Returns a copy of this response that is written in parts of `bytes` bytes, with `pause` between the parts.
    public func dripping(bytes: Int, _ pause: ScriptedPause) -> ScriptedResponse {
        with { $0.drip = Drip(bytes: max(1, bytes), pause: pause) }
    }

    /// Returns a copy of this response that is truncated at `point`. The connection then ends by `ending`; the default
    /// closes it.
    ///
    /// A point beyond the end of the response means its end.
    public func cut(after point: CutPoint, by ending: Ending = .close) -> ScriptedResponse {
        with { $0.cut = (point, ending) }
    }

    /// Returns a copy of this response with another ending of the connection.
    public func ending(_ ending: Ending) -> ScriptedResponse { with { $0.ending = ending } }

    /// Returns a copy of this response with another framing of its body.
    public func framed(_ framing: Framing) -> ScriptedResponse { with { $0.framing = framing } }

    /// Returns a copy of this response with a `Content-Length` of `length`, even if this is wrong.
    public func declaring(length: Int) -> ScriptedResponse { framed(.declaredLength(length)) }

    /// Returns a copy of this response with an additional header field after the other fields.
    public func header(_ name: HTTPField.Name, _ value: String) -> ScriptedResponse {
        with { $0.headerFields.append(HTTPField(name: name, value: value)) }
    }

    /// Returns a copy of this response with an additional line in its head. The line is sent unchecked, and followed by
    /// CRLF.
    public func rawHeader(_ line: String) -> ScriptedResponse { with { $0.rawHeaderLines.append(line) } }

    /// Returns a copy of this response with a header field `X-Padding`, whose value has `bytes` bytes.
    public func paddedHead(bytes: Int) -> ScriptedResponse {
        rawHeader("X-Padding: " + String(repeating: "a", count: max(0, bytes)))
    }

    /// Returns a copy of this response with an additional interim response before it, such as 103 (RFC 8297) or 100.
    ///
    /// The origin itself sends a 100 to a client that expects one; see ``ScriptedOrigin/ResponseMoment/afterRequest``.
    public func informing(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:]) -> ScriptedResponse {
        with { $0.informational.append((status, fields)) }
    }

    /// Returns a copy of this response that is sent completely `times` times in a row.
    public func repeated(times: Int) -> ScriptedResponse { with { $0.copies = max(1, times) } }

    private func with(_ change: (inout ScriptedResponse) -> Void) -> ScriptedResponse {
        var copy = self
        change(&copy)
        return copy
    }
}
