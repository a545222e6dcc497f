// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "json-benchmark",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "runway", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "JSONBenchmark",
            dependencies: [
                .product(name: "RunwayJSON", package: "runway"), .product(name: "Runway", package: "runway"),
            ])
    ]
)
