// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "bridge-benchmark",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "runway", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "BridgeBenchmark",
            dependencies: [
                .product(name: "RunwayBridge", package: "runway"), .product(name: "RunwayChromium", package: "runway"),
            ],
            swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")])
    ]
)
