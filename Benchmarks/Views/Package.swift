// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "views-benchmark",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "runway", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "ViewsBenchmark",
            dependencies: [
                .product(name: "RunwayJSON", package: "runway"), .product(name: "RunwayViews", package: "runway"),
            ])
    ]
)
