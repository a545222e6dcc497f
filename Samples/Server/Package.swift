// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "sample-server",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "runway", path: "../..", traits: ["Storage", "Server"]),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        .executableTarget(
            name: "SampleServer",
            dependencies: [
                .product(name: "RunwayServer", package: "runway"),
                .product(name: "RunwayServerStorage", package: "runway"),
                .product(name: "RunwaySignatures", package: "runway"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Crypto", package: "swift-crypto"),
            ])
    ]
)
