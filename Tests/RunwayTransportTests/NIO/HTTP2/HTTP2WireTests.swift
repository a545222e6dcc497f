import HTTPTypes
import NIOCore
import Runway
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayTransport

/// HTTP/2 against a server that does by hand what servers do, and what they should not do.
@Suite(.timeLimit(.minutes(10)))
struct HTTP2WireTests {
    /// Responds to every request when its stream is complete, after the settings.
    static let honest: RawHTTP2Server.Script = { connection, frame in
        guard let frame else { return connection.write(.settings()) }
        if frame.is(.settings), frame.flags & RawFrame.ack == 0 { connection.write(.settingsAck) }
        let isEnd = frame.flags & RawFrame.endStream != 0 && (frame.is(.headers) || frame.is(.data))
        if isEnd { connection.write(.headers(frame.stream), .data(frame.stream, "response")) }
    }

    @Test func firstRequestLeavesBeforeTheServersSettings() async throws {
        try await RawHTTP2Server.run { connection, frame in
            // Nothing is said before the request is here.
            guard let frame, frame.is(.headers) else { return }
            connection.write(.settings(), .settingsAck, .headers(frame.stream), .data(frame.stream, "early"))
        } _: { server in
            let network = try server.layer()
            #expect(try await network.call(Fetch<GET>("a")).text == "early")
        }
    }

    @Test func versionIsOnTheRecordBeforeAnyResponse() async throws {
        try await RawHTTP2Server.run { connection, frame in
            // No request gets a response.
            if frame == nil { connection.write(.settings()) }
        } _: { server in
            let records = RecordCollector()
            let network = try server.layer(sinks: [records])
            let call = Task { try await network.call(Fetch<GET>("a")) }
            await server.wait(for: .headers)
            call.cancel()
            await #expect(throws: NetworkError.self) { try await call.value }
            let attempt = try #require(try await records.records(count: 1).first?.attempts.first)
            #expect(attempt.httpVersion == "HTTP/2" && attempt.status == nil)
        }
    }

    @Test func windowsAreOpenFromTheFirstByte() async throws {
        try await RawHTTP2Server.run(Self.honest) { server in
            var wire = WireSettings()
            wire.streamWindowByteCount = 3 << 20
            wire.connectionWindowByteCount = 7 << 20
            _ = try await server.layer(wire).call(Fetch<GET>("a"))
            let kinds = server.frames().prefix(3).map(\.kind)
            #expect(kinds == [RawFrame.Kind.settings, .windowUpdate, .headers].map(\.rawValue))
            // INITIAL_WINDOW_SIZE and ENABLE_PUSH (RFC 9113 §6.5.2).
            #expect(server.frames()[0].settings[4] == 3 << 20)
            #expect(server.frames()[0].settings[2] == 0)
            #expect(server.frames()[1].number == (7 << 20) - 65_535)
        }
    }

    @Test func settingsBelowTheSentAmountMakeItWait() async throws {
        try await RawHTTP2Server.run { connection, frame in
            guard let frame, frame.is(.headers) else { return }
            if connection.streams.count == 5 {
                // One at a time: the others are refused, and come one after the other.
                connection.write(.settings([3: 1]))
                for stream in connection.streams.dropFirst() { connection.write(.reset(stream, 7)) }
                connection.write(.headers(1), .data(1, "1"))
            } else if connection.streams.count > 5 {
                connection.write(.headers(frame.stream), .data(frame.stream, "\(frame.stream)"))
            }
        } _: { server in
            let network = try server.layer()
            try await withThrowingTaskGroup(of: String?.self) { group in
                // Also what must not be sent twice: the server said that it did not act on it.
                for _ in 0..<5 { group.addTask { try await network.call(Fetch<POST>("a")).text } }
                var responses: [String] = []
                for try await response in group { responses.append(response ?? "") }
                #expect(Set(responses) == ["1", "11", "13", "15", "17"])
            }
            #expect(server.connectionCount == 1)
        }
    }

    @Test func goAwayMovesUnprocessedRequests() async throws {
        try await RawHTTP2Server.run { connection, frame in
            guard let frame else { return connection.write(.settings()) }
            guard frame.is(.headers) else { return }
            if connection.number == 1 {
                guard connection.streams.count == 3 else { return }
                connection.write(.goAway(last: 1), .headers(1), .data(1, "first"))
            } else {
                connection.write(.headers(frame.stream), .data(frame.stream, "moved"))
            }
        } _: { server in
            let network = try server.layer()
            try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<3 { group.addTask { try await network.call(Fetch<POST>("a")).text } }
                var responses: [String] = []
                for try await response in group { responses.append(response ?? "") }
                #expect(responses.sorted() == ["first", "moved", "moved"])
            }
            #expect(server.connectionCount == 2)
            await server.wait { $0.endCount == 1 }
        }
    }

    @Test func serverAskingForCalmGetsNoSecondRequest() async throws {
        try await RawHTTP2Server.run { connection, frame in
            if frame?.is(.headers) == true { connection.write(.settings(), .goAway(last: 0, code: 11)) }
        } _: { server in
            let error = try await server.layer().failure(of: Fetch<POST>("a"))
            #expect(error.kind == .overloaded && error.sending == .notSent)
            #expect(server.connectionCount == 1)
        }
    }

    @Test func repeatedlyRefusedStreamFailsAsNotSent() async throws {
        try await RawHTTP2Server.run { connection, frame in
            if let frame, frame.is(.headers) { connection.write(.reset(frame.stream, 7)) }
            if frame == nil { connection.write(.settings()) }
        } _: { server in
            let error = try await server.layer().failure(of: Fetch<POST>("a"))
            #expect(error.kind == .noNetwork && error.sending == .notSent)
            #expect(server.frames().count { $0.is(.headers) } == 4)
        }
    }

    @Test func resetMayHaveBeenActedOn() async throws {
        try await RawHTTP2Server.run { connection, frame in
            if let frame, frame.is(.headers) { connection.write(.settings(), .reset(frame.stream, 2)) }
        } _: { server in
            let error = try await server.layer().failure(of: Fetch<GET>("a"))
            #expect(error.kind == .noNetwork && error.sending == .unknown)
            #expect(server.connectionCount == 1)
        }
    }

    @Test func cancelledCallResetsOnlyItsStream() async throws {
        try await RawHTTP2Server.run { connection, frame in
            guard let frame else { return connection.write(.settings()) }
            if frame.is(.headers), frame.stream > 1 {
                connection.write(.headers(frame.stream), .data(frame.stream, "b"))
            }
            // What the server had sent already comes for a stream that is over.
            if frame.is(.reset) { connection.write(.headers(1), .data(1, "late")) }
        } _: { server in
            let network = try server.layer()
            let call = Task { try await network.call(Fetch<GET>("a")) }
            await server.wait(for: .headers)
            call.cancel()
            let error = try await #require(throws: NetworkError.self) { try await call.value }
            #expect(error.kind == .cancelled)
            await server.wait(for: .reset)
            #expect(server.frames().first { $0.is(.reset) }?.number == 8)
            for _ in 0..<3 { #expect(try await network.call(Fetch<GET>("b")).text == "b") }
            #expect(server.connectionCount == 1)
        }
    }

    @Test func slowReaderHoldsBackTheServerNotNeighbours() async throws {
        let part = [UInt8](repeating: 7, count: 16_384)
        try await RawHTTP2Server.run { connection, frame in
            guard let frame else { return connection.write(.settings(), .settingsAck) }
            // The first stream gets as much as its window of 128 KiB takes, and more for every credit.
            if frame.is(.headers), frame.stream == 1 {
                connection.write(.headers(1))
                for _ in 0..<8 { connection.write(RawFrame(.data, stream: 1, part)) }
            } else if frame.is(.headers) {
                connection.write(.headers(frame.stream), .data(frame.stream, "swift"))
            } else if frame.is(.windowUpdate), frame.stream == 1 {
                connection.write(RawFrame(.data, flags: RawFrame.endStream, stream: 1, part))
            }
        } _: { server in
            var wire = WireSettings()
            wire.streamWindowByteCount = 128 << 10
            wire.connectionWindowByteCount = 128 << 10
            let network = try server.layer(wire)
            let response = try await network.stream(Fetch<GET>("a"))
            // The neighbour gets its response although nobody reads the stream.
            #expect(try await network.call(Fetch<GET>("b")).text == "swift")
            #expect(!server.frames().contains { $0.is(.windowUpdate) && $0.stream == 1 })
            #expect(try await response.body.collect(upTo: 1 << 20).count == 9 * part.count)
        }
    }

    @Test func readingReopensTheWholeWindow() async throws {
        let window = 128 << 10
        try await RawHTTP2Server.run { connection, frame in
            guard let frame else { return connection.write(.settings(), .settingsAck) }
            guard frame.is(.headers) else { return }
            connection.write(.headers(frame.stream))
            guard frame.stream == 1 else { return connection.write(.data(frame.stream, "swift")) }
            let part = [UInt8](repeating: 7, count: window / 8)
            for _ in 0..<8 { connection.write(RawFrame(.data, stream: 1, part)) }
        } _: { server in
            var wire = WireSettings()
            wire.streamWindowByteCount = window
            let network = try server.layer(wire)
            let response = try await network.stream(Fetch<GET>("a"))
            // This response comes after all that fills the window of the stream.
            _ = try await network.call(Fetch<GET>("b"))
            var parts = response.body.makeAsyncIterator()
            var byteCount = 0
            while byteCount < window, let part = try await parts.next() { byteCount += part.count }
            // This request is sent after the WINDOW_UPDATE frames.
            _ = try await network.call(Fetch<GET>("c"))
            let credits = server.frames().filter { $0.is(.windowUpdate) && $0.stream == 1 }.map(\.number)
            // What the reader has not reported yet is less than a quarter of the window.
            #expect(credits.reduce(0, +) > window * 3 / 4, "\(credits)")
        }
    }

    /// While the connection is not writable, NIO's handler holds WINDOW_UPDATE frames back and does not count them.
    @Test func windowOpensOnceWhileNothingCanBeSent() async throws {
        let (window, part) = (256 << 10, [UInt8](repeating: 7, count: 16 << 10))
        let paused = Mutex<(any Channel)?>(nil)
        try await RawHTTP2Server.run { connection, frame in
            guard let frame else {
                return connection.write(
                    .settings([4: 0x7FFF_FFFF]), .settingsAck, RawFrame(.windowUpdate, RawFrame.number(1 << 30)))
            }
            if frame.is(.headers), frame.stream == 1 { connection.write(.headers(1)) }
            if frame.is(.headers), frame.stream == 3 {
                paused.withLock { $0 = connection.pauseReading() }
                for _ in 0..<15 { connection.write(RawFrame(.data, stream: 1, part)) }
            }
            if frame.is(.data), frame.flags & RawFrame.endStream != 0 { connection.write(.headers(3, isLast: true)) }
            if frame.is(.headers), frame.stream == 5 { connection.write(.headers(5, isLast: true)) }
        } _: { server in
            let opened: @Sendable (RawHTTP2Server, Int) -> Int = { server, stream in
                server.frames().filter { $0.is(.windowUpdate) && $0.stream == stream }.map(\.number).reduce(0, +)
            }
            var wire = WireSettings()
            (wire.streamWindowByteCount, wire.connectionWindowByteCount) = (window, window)
            let network = try server.layer(wire)
            let response = try await network.stream(Fetch<GET>("a"))
            async let upload = network.call(Fetch<PUT>("b", .bytes([UInt8](repeating: 1, count: 24 << 20))))
            var parts = response.body.makeAsyncIterator()
            var byteCount = 0
            while byteCount < 15 * part.count, let bytes = try await parts.next() { byteCount += bytes.count }
            try await #require(paused.withLock { $0 }).setOption(.autoRead, value: true).get()
            _ = try await upload
            // The frames may follow the last byte of an upload for which the buffers of both ends were large enough.
            let announced = window - 65_535
            await server.wait { opened($0, 0) > announced && opened($0, 1) > 0 }
            // This request is sent after all WINDOW_UPDATE frames.
            _ = try await network.call(Fetch<GET>("c"))
            #expect(opened(server, 0) - announced <= byteCount)
            #expect(opened(server, 1) <= byteCount)
        }
    }

    @Test func largeBodiesFollowTheServersWindow() async throws {
        let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        let received = Mutex<[UInt8]>([])
        try await RawHTTP2Server.run { connection, frame in
            guard let frame else { return connection.write(.settings([4: 1000])) }
            guard frame.is(.data) else { return }
            received.withLock { $0 += frame.payload }
            if frame.flags & RawFrame.endStream != 0 {
                return connection.write(.headers(frame.stream), .data(frame.stream, "done"))
            }
            let count = RawFrame.number(frame.payload.count)
            connection.write(RawFrame(.windowUpdate, stream: frame.stream, count), RawFrame(.windowUpdate, count))
        } _: { server in
            let network = try server.layer()
            #expect(try await network.call(Fetch<POST>("a", .bytes(body))).text == "done")
            #expect(received.withLock { $0 } == body)
        }
    }

    @Test func earlyResponseEndsTheBody() async throws {
        try await RawHTTP2Server.run { connection, frame in
            guard let frame else { return connection.write(.settings()) }
            if frame.is(.headers) {
                // 413, whose code is not in the static table.
                connection.write(.headers(frame.stream, rawBlock([(":status", "413")]), isLast: true))
            }
        } _: { server in
            let network = try server.layer()
            let endless = BodyStream { { [UInt8](repeating: 1, count: 1 << 14) } }
            let error = try await network.failure(
                of: Fetch<POST>("a", .stream(endless, byteCount: nil, isReplayable: false)))
            #expect(error.status == .contentTooLarge)
            await server.wait(for: .reset)
            _ = try? await network.call(Fetch<GET>("b"))
            #expect(server.connectionCount == 1)
        }
    }

    @Test func connectionWithAnUnacknowledgedPingIsClosed() async throws {
        try await RawHTTP2Server.run { connection, frame in
            if frame == nil { connection.write(.settings()) }
            if connection.number == 2, let frame, frame.is(.headers) {
                connection.write(.headers(frame.stream), .data(frame.stream, "second"))
            }
        } _: { server in
            var wire = WireSettings()
            wire.pingInterval = .milliseconds(50)
            wire.pingTimeout = .milliseconds(50)
            let error = try await server.layer(wire).failure(of: Fetch<POST>("a"))
            #expect(error.kind == .noNetwork && error.detail.contains("PING"))
            // Another one may have been sent before the server's settings came, and a busy server reads it later.
            await server.wait { $0.frames(of: 1).contains { $0.is(.ping) } }
        }
    }

    @Test func acknowledgedPingsDoNotExtendTheIdleTimeout() async throws {
        var pingCount = 0
        // The first is long enough for several PINGs, unless the machine stands still.
        for idleTimeout in [Duration.seconds(6), .seconds(30)] where pingCount < 2 {
            try await RawHTTP2Server.run { connection, frame in
                guard let frame else { return connection.write(.settings()) }
                if frame.is(.ping), frame.flags & RawFrame.ack == 0 {
                    connection.write(RawFrame(.ping, flags: RawFrame.ack, frame.payload))
                }
            } _: { server in
                var wire = WireSettings()
                wire.pingInterval = .milliseconds(50)
                wire.pingTimeout = .seconds(60)
                let network = try server.layer(wire, idleTimeout: idleTimeout)
                let error = try await network.failure(of: Fetch<GET>("a"))
                #expect(error.kind == .timedOut && error.detail.contains("silent"))
                // The stream is over, its connection is not.
                await server.wait(for: .reset)
                pingCount = server.frames().count { $0.is(.ping) }
                #expect(server.endCount == 0)
            }
        }
        #expect(pingCount > 1)
    }

    @Test func recordHasTheWirePhases() async throws {
        try await RawHTTP2Server.run(Self.honest) { server in
            let records = RecordCollector()
            let network = try server.layer(sinks: [records])
            for _ in 0..<2 { _ = try await network.call(Fetch<POST>("a", .bytes([1, 2, 3]))) }
            let wires = try await records.records(count: 2).compactMap { $0.attempts.first?.wire }
            #expect(wires.map(\.isReused) == [false, true])
            for wire in wires {
                #expect(wire.address == server.baseURL.replacing("https://localhost", with: "127.0.0.1"))
                #expect(wire.tlsVersion == "TLSv1.3")
                #expect(wire.sending != nil && wire.waiting != nil && wire.receiving != nil && wire.queueing != nil)
                // A head of one byte and a body of eight, each with the nine bytes of a frame.
                #expect(wire.receivedByteCount == 9 + 1 + 9 + 8)
            }
            #expect(wires[0].tcp != nil && wires[0].tls != nil)
            #expect(wires[1].tcp == nil && wires[1].tls == nil && wires[1].dns == nil)
            let sent = server.frames().filter { $0.is(.headers) || $0.is(.data) }.map { 9 + $0.payload.count }
            #expect(wires[0].sentByteCount == sent[0] + sent[1], "\(server.frames())")
            #expect(wires[1].sentByteCount == sent[2] + sent[3])
        }
    }
}
