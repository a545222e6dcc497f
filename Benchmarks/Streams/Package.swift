// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "streams-benchmark",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "runway", path: "../..", traits: ["Transport", "Server", "Storage"]),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ],
    targets: [
        .executableTarget(
            name: "StreamsBenchmark",
            dependencies: [
                .product(name: "Runway", package: "runway"),
                .product(name: "RunwayServer", package: "runway"),
                .product(name: "RunwayServerStorage", package: "runway"),
                .product(name: "RunwayStreams", package: "runway"),
                .product(name: "RunwayTransport", package: "runway"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdHTTP2", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
        )
    ]
)
