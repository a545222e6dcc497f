// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "bundles-benchmark",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "runway", path: "../..", traits: ["Transport", "Signing"])],
    targets: [
        .executableTarget(
            name: "BundlesBenchmark",
            dependencies: [
                .product(name: "Runway", package: "runway"),
                .product(name: "RunwayBundles", package: "runway"),
                .product(name: "RunwayTransport", package: "runway"),
            ],
            swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
        )
    ]
)
