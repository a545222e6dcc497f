// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "mediator-benchmark",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "runway", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "MediatorBenchmark", dependencies: [.product(name: "RunwayMediator", package: "runway")])
    ]
)
