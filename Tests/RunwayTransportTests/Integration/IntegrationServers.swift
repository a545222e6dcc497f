import Foundation
import Runway
import RunwayTesting
import RunwayTransport
import Testing

/// The servers that `Scripts/integration-servers.sh` starts and names in the environment.
struct IntegrationServers {
    /// nginx over TLS with HTTP/2.
    let nginx: String
    /// nginx over plain HTTP/1.1.
    let plainNginx: String
    /// The certificate authority of nginx's certificate, as PEM.
    let authorityPEM: String
    /// The directory whose files nginx serves.
    let isoCodes: URL
    /// The directory whose files nginx serves below `own/`, slowly; a test may put some there.
    let ownFiles: URL
    /// httpbin under gunicorn, over plain HTTP/1.1.
    let httpbin: String

    /// Whether the tests that need the servers run: when they are there, and when they are required to be.
    static var areExpected: Bool {
        let environment = ProcessInfo.processInfo.environment
        return environment["RUNWAY_NGINX"] != nil || environment["RUNWAY_REQUIRE_INTEGRATION"] == "1"
    }

    /// Reads the environment; fails the test that asks where a server is missing.
    init() throws {
        let environment = ProcessInfo.processInfo.environment
        func value(_ name: String) throws -> String {
            try #require(
                environment[name],
                "\(name) is not set: run Scripts/integration-servers.sh start DIR, and source DIR/environment")
        }
        nginx = try value("RUNWAY_NGINX")
        plainNginx = try value("RUNWAY_NGINX_PLAIN")
        authorityPEM = try String(contentsOf: URL(filePath: value("RUNWAY_NGINX_CA")), encoding: .utf8)
        isoCodes = URL(filePath: try value("RUNWAY_ISO_CODES"))
        ownFiles = URL(filePath: try value("RUNWAY_NGINX_OWN"))
        httpbin = try value("RUNWAY_HTTPBIN")
    }

    /// A layer whose calls go to nginx over TLS.
    func nginxLayer(
        usesHTTP2: Bool = true, sinks: [any EventSink] = []
    ) throws -> NetworkLayer {
        try NetworkLayer(
            to: nginx,
            TransportConfiguration(
                trust: .certificates(pem: [authorityPEM]), usesHTTP2: usesHTTP2, connectTimeout: .seconds(300)),
            sinks: sinks)
    }

    /// A layer whose calls go to httpbin.
    func httpbinLayer(sinks: [any EventSink] = []) throws -> NetworkLayer {
        try NetworkLayer(to: httpbin, sinks: sinks)
    }
}

extension Fetch {
    /// The same call with parameters in its query.
    func query(_ parameters: Parameters) -> Self {
        var copy = self
        copy.parameters = parameters
        return copy
    }
}
