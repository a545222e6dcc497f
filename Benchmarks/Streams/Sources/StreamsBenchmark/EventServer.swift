import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOSSL
import RunwayServer
import RunwayServerStorage

/// A server of events over HTTP/2 and TLS, and of an echo over TCP; prints the ports of both.
///
/// For each line of its input it waits, so that the process sleeps before as it does before a rare event, and publishes one event with
/// ``TimedData``. It ends with its input.
struct EventServer {
    /// Has server.pem and server.key.
    let folder: String
    /// The time from a line to its event.
    let pause: Duration
    /// The file in which the hub stores its events; `nil` stores them in memory.
    let file: String?

    func run() async throws {
        let log: any EventLog
        if let file { log = try SQLiteEventLog(file: URL(filePath: file)) } else { log = MemoryEventLog() }
        var options = EventHubOptions()
        options.maximumConnectionsPerSource = options.maximumConnections
        let hub = try await EventHub(name: "benchmark", log: log, options: options)
        let router = Router()
        EventStreamRoute(hub) { _, _ in EventPermission() }.add(to: router)
        router.get { _, _ in Self.page }
        let tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile("\(folder)/server.pem").map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: "\(folder)/server.key", format: .pem)))
        let echoPort = try startEcho()
        let application = Application(
            router: router, server: try .http2Upgrade(tlsConfiguration: tls),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { [pause] channel in
                print(channel.localAddress?.port ?? 0, echoPort)
                fflush(nil)
                Task { await Self.publish(to: hub, after: pause) }
            },
            logger: Logger(label: "benchmark", factory: { _ in SwiftLogNoOpLogHandler() }))
        try await application.run()
    }

    /// A page for a browser. Its script may read the browser's clock in steps of 5 instead of 100 µs, since it is isolated from other origins.
    private static var page: Response {
        var fields: HTTPFields = [.contentType: "text/plain"]
        let isolation = ["Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"]
        for (name, value) in isolation {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(string: "events")))
    }

    @concurrent private static func publish(to hub: EventHub, after pause: Duration) async {
        do {
            for await _ in lines(of: .standardInput) {
                try await Task.sleep(for: pause)
                try await hub.publish(PublishedEvent(topic: "times", data: TimedData.now()))
            }
            exit(0)
        } catch {
            FileHandle.standardError.write(Data("the event was not published: \(error)\n".utf8))
            exit(1)
        }
    }
}
