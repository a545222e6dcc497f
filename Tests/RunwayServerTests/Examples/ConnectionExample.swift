import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import NIOSSL
import RunwayServer

// The examples in the doc comments of ConnectionLimits, BodyCollector, HostRules and GuardedRouter, and on the page of slow
// clients, line by line. They are compiled and not run.

private func makeLimitedApplication(_ router: Router<BasicRequestContext>) -> some ApplicationProtocol {
    let limits = ConnectionLimits()
    let app = Application(router: router, server: .http1(limits))
    return app
}

private func makeBuilder(_ limits: ConnectionLimits, _ tls: TLSConfiguration) -> HTTPServerBuilder {
    let builder = HTTPServerBuilder { responder in
        let configuration = HTTP2ChannelConfiguration(
            idleTimeout: limits.idleTime, streamConfiguration: limits.requests)
        return try HTTP2UpgradeChannel(tlsConfiguration: tls, configuration: configuration, responder: responder)
            .limited(by: limits)
    }
    return builder
}

private func receive(_ request: Request) async throws -> Int {
    let body = try await BodyCollector.shared.collect(request.body, upTo: 1 << 20)
    return body.readableBytes
}

private func makeGuardedApplication(_ router: Router<BasicRequestContext>) -> some ApplicationProtocol {
    var rules = HostRules(["api.example.com"])
    rules.origins = ["https://shop.example.com"]
    let app = Application(router: GuardedRouter(router, rules))
    return app
}

private func makeGuardedMergingApplication(_ router: Router<BasicRequestContext>) -> some ApplicationProtocol {
    let app = Application(router: GuardedRouter(MergingRouter(router), HostRules(["api.example.com"])))
    return app
}
