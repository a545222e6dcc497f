// swift-tools-version:6.2
import PackageDescription

// The server's half is also measured over PostgreSQL, where libpq is there and it is asked for.
let hasPostgreSQL = Context.environment["RUNWAY_POSTGRESQL"] != nil

let package = Package(
    name: "sync-benchmark",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(
            name: "runway", path: "../..",
            traits: hasPostgreSQL
                ? ["Storage", "Transport", "Server", "PostgreSQL"] : ["Storage", "Transport", "Server"]),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "SyncBenchmark",
            dependencies: [
                .product(name: "Runway", package: "runway"),
                .product(name: "RunwayTables", package: "runway"),
                .product(name: "RunwaySync", package: "runway"),
                .product(name: "RunwayServer", package: "runway"),
                .product(name: "RunwayServerStorage", package: "runway"),
                .product(name: "RunwayTestServer", package: "runway"),
                .product(name: "RunwayTransport", package: "runway"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ] + (hasPostgreSQL ? [.product(name: "RunwayPostgreSQL", package: "runway")] : []),
            swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
                + (hasPostgreSQL ? [.define("PostgreSQL")] : [])
        )
    ]
)
