// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "wire-benchmark",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "runway", path: "../..", traits: ["Transport", "Server", "Storage"]),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.5.1"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ],
    targets: [
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(name: "CurlClient", dependencies: ["CCurl"]),
        // Linux alone has what it is made of.
        .executableTarget(name: "FarPath"),
        .executableTarget(
            name: "WireBenchmark",
            dependencies: [
                "CurlClient",
                .product(name: "RunwayTesting", package: "runway"),
                .product(name: "RunwayTestServer", package: "runway"),
                .product(name: "Runway", package: "runway"),
                .product(name: "RunwayJSON", package: "runway"),
                .product(name: "RunwayServer", package: "runway"),
                .product(name: "RunwayStorage", package: "runway"),
                .product(name: "RunwayStreams", package: "runway"),
                .product(name: "RunwayTransport", package: "runway"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdHTTP2", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
        ),
    ]
)
