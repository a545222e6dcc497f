// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "storage-benchmark",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "runway", path: "../..", traits: ["Storage"]),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "StorageBenchmark",
            dependencies: [
                .product(name: "Runway", package: "runway"),
                .product(name: "RunwayStorage", package: "runway"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
        )
    ]
)
