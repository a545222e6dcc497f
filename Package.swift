// swift-tools-version:6.2
import PackageDescription

// One file, and long: a manifest can import nothing, and each target states its own dependencies.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

// On Linux a resource would add a bundle, and code that looks for it, to every program.
#if canImport(Darwin)
    let privacyManifest: (excluded: [String], resources: [Resource]) = ([], [.copy("PrivacyInfo.xcprivacy")])
#else
    let privacyManifest: (excluded: [String], resources: [Resource]) = (["PrivacyInfo.xcprivacy"], [])
#endif

/// A product of a package that is resolved only with one of the traits of this package.
func product(_ name: String, of package: String, with trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}

// Apple Watch has no JavaScriptCore.
let javaScriptPlatforms: [Platform] = [.linux, .macOS, .iOS, .tvOS, .visionOS]
let scriptSettings = settings + [.define("JavaScript", .when(platforms: javaScriptPlatforms, traits: ["Scripts"]))]

let package = Package(
    name: "runway",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "RunwayJSON", targets: ["RunwayJSON"]),
        .library(name: "Runway", targets: ["Runway"]),
        .library(name: "RunwayTransport", targets: ["RunwayTransport"]),
        .library(name: "RunwayTesting", targets: ["RunwayTesting"]),
        .library(name: "RunwayTestServer", targets: ["RunwayTestServer"]),
        .library(name: "RunwaySignatures", targets: ["RunwaySignatures"]),
        .library(name: "RunwaySigning", targets: ["RunwaySigning"]),
        .library(name: "RunwayStorage", targets: ["RunwayStorage"]),
        .library(name: "RunwayTables", targets: ["RunwayTables"]),
        .library(name: "RunwaySync", targets: ["RunwaySync"]),
        .library(name: "RunwayMediator", targets: ["RunwayMediator"]),
        .library(name: "RunwayScreens", targets: ["RunwayScreens"]),
        .library(name: "RunwayViews", targets: ["RunwayViews"]),
        .library(name: "RunwayBridge", targets: ["RunwayBridge"]),
        .library(name: "RunwayChromium", targets: ["RunwayChromium"]),
        // With what a record of a refusal contains.
        .library(name: "RunwayBundles", targets: ["RunwayBundles", "RunwayTUF"]),
        .library(name: "RunwayScripts", targets: ["RunwayScripts"]),
        .library(name: "RunwayStreams", targets: ["RunwayStreams"]),
        .library(name: "RunwayChat", targets: ["RunwayChat"]),
        .library(name: "RunwayServer", targets: ["RunwayServer"]),
        .library(name: "RunwayServerStorage", targets: ["RunwayServerStorage"]),
        .library(name: "RunwayPostgreSQL", targets: ["RunwayPostgreSQL"]),
        .executable(name: "runway", targets: ["RunwayCommand"]),
    ],
    traits: [
        .default(enabledTraits: ["Transport", "Pins", "Signing", "Storage", "Server", "Command"]),
        .trait(name: "Transport", description: "RunwayTransport and RunwayTestServer, which are made with SwiftNIO."),
        .trait(
            name: "Pins", description: "Public-key pins, and the reasons for which certificates are refused.",
            enabledTraits: ["Transport"]),
        .trait(
            name: "Signing",
            description:
                "RunwaySignatures, RunwaySigning and RunwayBundles, made with swift-crypto and structured fields."
        ),
        .trait(
            name: "Storage", description: "RunwayStorage and RunwayTables, which are made with GRDB and SQLite."),
        .trait(
            name: "Server", description: "RunwayServer, which is made for Hummingbird.", enabledTraits: ["Signing"]),
        .trait(
            name: "Command", description: "The command runway, its demo, and the tests of this package.",
            enabledTraits: ["Pins", "Signing", "Storage", "Server"]),
        .trait(
            name: "Brotli", description: "Responses in Brotli are decoded; needs libbrotlidec and its header files.",
            enabledTraits: ["Transport"]),
        .trait(
            name: "Zstd", description: "Responses in zstd are decoded; needs libzstd and its header files.",
            enabledTraits: ["Transport"]),
        .trait(
            name: "PostgreSQL", description: "RunwayPostgreSQL, which needs libpq and its header files.",
            enabledTraits: ["Server"]),
        .trait(
            name: "Scripts",
            description: "RunwayScripts runs JavaScript; on Linux it needs JavaScriptCore of WebKitGTK 4.1.",
            enabledTraits: ["Signing"]),
        .trait(
            name: "Lua", description: "RunwayScripts runs Lua 5.4, too; needs the interpreter and its header files.",
            enabledTraits: ["Scripts"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-service-context", from: "1.5.1"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .target(name: "RunwayJSONSIMD", cSettings: [.treatAllWarnings(as: .error)]),
        .target(
            name: "RunwayZlib", cSettings: [.treatAllWarnings(as: .error)], linkerSettings: [.linkedLibrary("z")]),
        .target(name: "RunwayFiles", cSettings: [.treatAllWarnings(as: .error)]),
        .target(name: "RunwayDigest", cSettings: [.treatAllWarnings(as: .error)]),
        .target(
            name: "RunwayBrotli", linkerSettings: [.linkedLibrary("brotlidec", .when(traits: ["Brotli"]))]),
        .target(name: "RunwayZstd", linkerSettings: [.linkedLibrary("zstd", .when(traits: ["Zstd"]))]),
        .target(name: "RunwayLibPQ", linkerSettings: [.linkedLibrary("pq", .when(traits: ["PostgreSQL"]))]),
        .target(
            name: "RunwayLua",
            cSettings: [.treatAllWarnings(as: .error), .define("RUNWAY_LUA", .when(traits: ["Lua"]))],
            linkerSettings: [.linkedLibrary("lua5.4", .when(platforms: [.linux], traits: ["Lua"]))]
        ),
        .target(
            name: "RunwayJavaScript",
            linkerSettings: [
                .linkedLibrary("javascriptcoregtk-4.1", .when(platforms: [.linux], traits: ["Scripts"])),
                .linkedFramework(
                    "JavaScriptCore", .when(platforms: [.macOS, .iOS, .tvOS, .visionOS], traits: ["Scripts"])),
            ]
        ),
        .target(name: "RunwayJSON", dependencies: ["RunwayJSONSIMD"], swiftSettings: settings),
        .target(name: "RunwayMediator", swiftSettings: settings),
        .target(name: "RunwayScreens", swiftSettings: settings),
        .target(name: "RunwayViews", dependencies: ["RunwayJSON"], swiftSettings: settings),
        .target(
            name: "RunwayFormats",
            dependencies: ["RunwayJSON", .product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: settings
        ),
        .target(
            name: "Runway",
            dependencies: [
                "RunwayFormats", "RunwayJSON", "RunwayZlib", "RunwayDigest",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "ServiceContextModule", package: "swift-service-context"),
            ],
            exclude: privacyManifest.excluded, resources: privacyManifest.resources, swiftSettings: settings
        ),
        .target(
            name: "RunwayBridge", dependencies: ["Runway", "RunwayJSON", "RunwayMediator"],
            exclude: ["runway.d.ts"], resources: [.embedInCode("runway.js")], swiftSettings: settings
        ),
        .target(name: "RunwayChromium", dependencies: ["RunwayBridge"], swiftSettings: settings),
        .target(
            name: "RunwaySignatures",
            dependencies: [
                "RunwayFormats",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                product("RawStructuredFieldValues", of: "swift-http-structured-headers", with: "Signing"),
                product("Crypto", of: "swift-crypto", with: "Signing"),
                product("CryptoExtras", of: "swift-crypto", with: "Signing"),
                product("SwiftASN1", of: "swift-asn1", with: "Signing"),
            ],
            exclude: privacyManifest.excluded, resources: privacyManifest.resources, swiftSettings: settings
        ),
        .target(
            name: "RunwayTUF",
            dependencies: [
                "RunwayJSON", "RunwaySignatures",
                product("Crypto", of: "swift-crypto", with: "Signing"),
                product("CryptoExtras", of: "swift-crypto", with: "Signing"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "RunwaySigning",
            dependencies: [
                "Runway", "RunwayFormats", "RunwayJSON", "RunwaySignatures",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                product("Crypto", of: "swift-crypto", with: "Signing"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "RunwayBundles",
            dependencies: [
                "Runway", "RunwayFiles", "RunwayJSON", "RunwaySignatures", "RunwayTUF",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                product("Crypto", of: "swift-crypto", with: "Signing"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "RunwayScripts",
            dependencies: [
                "Runway", "RunwayBundles", "RunwayDigest", "RunwayJSON",
                .target(
                    name: "RunwayJavaScript", condition: .when(platforms: javaScriptPlatforms, traits: ["Scripts"])),
                .target(name: "RunwayLua", condition: .when(traits: ["Lua"])),
            ],
            swiftSettings: scriptSettings
        ),
        .target(
            name: "RunwayBundleRepository",
            dependencies: [
                "RunwayJSON", "RunwaySignatures", "RunwayTUF",
                product("Crypto", of: "swift-crypto", with: "Signing"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "RunwayTransport",
            dependencies: [
                "Runway", "RunwayDigest", "RunwayFormats", "RunwayZlib",
                .target(name: "RunwayBrotli", condition: .when(traits: ["Brotli"])),
                .target(name: "RunwayZstd", condition: .when(traits: ["Zstd"])),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                product("NIOCore", of: "swift-nio", with: "Transport"),
                product("NIOPosix", of: "swift-nio", with: "Transport"),
                product("NIOHTTP1", of: "swift-nio", with: "Transport"),
                product("NIOWebSocket", of: "swift-nio", with: "Transport"),
                product("NIOTLS", of: "swift-nio", with: "Transport"),
                product("NIOSSL", of: "swift-nio-ssl", with: "Transport"),
                product("NIOHTTP2", of: "swift-nio-http2", with: "Transport"),
                product("NIOHPACK", of: "swift-nio-http2", with: "Transport"),
                product("X509", of: "swift-certificates", with: "Pins"),
                product("SwiftASN1", of: "swift-asn1", with: "Pins"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "RunwayTesting",
            dependencies: ["Runway", .product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: settings
        ),
        .target(
            name: "RunwayTestServer",
            dependencies: [
                "RunwayTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                product("NIOCore", of: "swift-nio", with: "Transport"),
                product("NIOPosix", of: "swift-nio", with: "Transport"),
                product("NIOTLS", of: "swift-nio", with: "Transport"),
                product("NIOSSL", of: "swift-nio-ssl", with: "Transport"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "RunwaySQLite",
            dependencies: [product("GRDB", of: "GRDB.swift", with: "Storage")],
            swiftSettings: settings
        ),
        .target(
            name: "RunwayStorage",
            dependencies: [
                "Runway", "RunwayFiles", "RunwayFormats", "RunwayJSON", "RunwaySQLite",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                product("GRDB", of: "GRDB.swift", with: "Storage"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "RunwayTables",
            dependencies: [
                "Runway", "RunwayJSON", "RunwaySQLite", "RunwayStorage", "RunwayZlib",
                product("GRDB", of: "GRDB.swift", with: "Storage"),
                product("GRDBSQLite", of: "GRDB.swift", with: "Storage"),
            ],
            exclude: privacyManifest.excluded, resources: privacyManifest.resources, swiftSettings: settings
        ),
        .target(name: "RunwaySyncCore", dependencies: ["RunwayJSON"], swiftSettings: settings),
        .target(name: "RunwaySyncSimulator", dependencies: ["RunwaySyncCore"], swiftSettings: settings),
        .target(
            name: "RunwayStreams",
            dependencies: [
                "Runway", "RunwayFormats", "RunwayJSON", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "RunwaySync",
            dependencies: [
                "Runway", "RunwayJSON", "RunwayStorage", "RunwayStreams", "RunwaySyncCore", "RunwayTables",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                product("GRDB", of: "GRDB.swift", with: "Storage"),
            ],
            exclude: privacyManifest.excluded, resources: privacyManifest.resources, swiftSettings: settings
        ),
        .target(
            name: "RunwayChat",
            dependencies: [
                "Runway", "RunwayFormats", "RunwayJSON", "RunwayStreams",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "RunwayServer",
            dependencies: [
                "RunwayFormats", "RunwayJSON", "RunwaySignatures", "RunwaySyncCore", "RunwayZlib",
                product("Hummingbird", of: "hummingbird", with: "Server"),
                product("HummingbirdCore", of: "hummingbird", with: "Server"),
                product("Crypto", of: "swift-crypto", with: "Server"),
                product("X509", of: "swift-certificates", with: "Server"),
                product("SwiftASN1", of: "swift-asn1", with: "Server"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                product("NIOCore", of: "swift-nio", with: "Server"),
                product("NIOPosix", of: "swift-nio", with: "Server"),
                product("NIOHTTP1", of: "swift-nio", with: "Server"),
                product("NIOHTTPTypes", of: "swift-nio-extras", with: "Server"),
                product("ServiceLifecycle", of: "swift-service-lifecycle", with: "Server"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "RunwayServerStorage",
            dependencies: [
                "RunwayFormats", "RunwayJSON", "RunwayServer", "RunwaySQLite", "RunwaySignatures", "RunwaySyncCore",
                product("GRDB", of: "GRDB.swift", with: "Storage"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "RunwayPostgreSQL",
            dependencies: [
                "RunwayFormats", "RunwayJSON", "RunwayServer", "RunwaySignatures", "RunwaySyncCore",
                .target(name: "RunwayLibPQ", condition: .when(traits: ["PostgreSQL"])),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "RunwayDemo",
            dependencies: [
                "Runway", "RunwayJSON", "RunwaySignatures", "RunwaySigning", "RunwayServer", "RunwayTransport",
                "RunwayStreams", "RunwayChat", "RunwayTesting", "RunwayTestServer", "RunwayStorage",
                "RunwayServerStorage", "RunwaySync", "RunwayTables",
                "RunwayBundleRepository", "RunwayBundles", "RunwayMediator", "RunwayTUF", "RunwayViews",
                product("Hummingbird", of: "hummingbird", with: "Command"),
                product("HummingbirdCore", of: "hummingbird", with: "Command"),
                product("HummingbirdHTTP2", of: "hummingbird", with: "Command"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                product("X509", of: "swift-certificates", with: "Command"),
                product("SwiftASN1", of: "swift-asn1", with: "Command"),
                product("Crypto", of: "swift-crypto", with: "Command"),
                .product(name: "Logging", package: "swift-log"),
                product("NIOCore", of: "swift-nio", with: "Command"),
                product("NIOSSL", of: "swift-nio-ssl", with: "Command"),
            ],
            // Links to the files of Samples/Card.
            resources: [
                "embedded-card.json", "embedded-skin.json", "card.json", "skin.json", "card.js", "repair.js", "view.js",
            ].map { .embedInCode("Views/\($0)") },
            swiftSettings: settings
        ),
        .executableTarget(
            name: "RunwayCommand",
            dependencies: [
                "Runway", "RunwayJSON", "RunwaySignatures", "RunwaySigning", "RunwayServer", "RunwayServerStorage",
                "RunwayStorage", "RunwayStreams", "RunwaySync", "RunwaySyncCore", "RunwayTables", "RunwayTransport",
                "RunwayDemo", "RunwayBridge", "RunwayBundleRepository", "RunwayBundles", "RunwayChromium",
                "RunwayScripts", "RunwayTUF", "RunwayViews",
                .target(name: "RunwayPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
                product("ArgumentParser", of: "swift-argument-parser", with: "Command"),
                product("Hummingbird", of: "hummingbird", with: "Command"),
                product("HummingbirdCore", of: "hummingbird", with: "Command"),
                product("HummingbirdHTTP2", of: "hummingbird", with: "Command"),
                product("ServiceLifecycle", of: "swift-service-lifecycle", with: "Command"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                product("NIOCore", of: "swift-nio", with: "Command"),
                product("NIOPosix", of: "swift-nio", with: "Command"),
                product("NIOHTTP1", of: "swift-nio", with: "Command"),
                product("NIOHTTPTypes", of: "swift-nio-extras", with: "Command"),
                product("NIOHTTPTypesHTTP1", of: "swift-nio-extras", with: "Command"),
            ],
            path: "Sources/RunwayCommand",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "RunwayCrashTest",
            dependencies: [
                "Runway", "RunwayJSON", "RunwayStorage", "RunwayTables", "RunwayStreams", "RunwayChat", "RunwayServer",
                "RunwayServerStorage", "RunwaySyncCore", "RunwayTransport", "RunwayTesting", "RunwayTestServer",
                "RunwayBundleRepository", "RunwayBundles", "RunwayDemo", "RunwaySignatures", "RunwayTUF",
                .target(name: "RunwayPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
                product("GRDB", of: "GRDB.swift", with: "Command"),
                product("ArgumentParser", of: "swift-argument-parser", with: "Command"),
                product("Hummingbird", of: "hummingbird", with: "Command"),
                product("HummingbirdHTTP2", of: "hummingbird", with: "Command"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                product("NIOCore", of: "swift-nio", with: "Command"),
            ],
            swiftSettings: settings
        ),
        .target(name: "CountedAllocation", path: "Tests/RunwayJSONTests/CountedAllocation"),
        .testTarget(
            name: "RunwayJSONTests", dependencies: ["RunwayJSON", "CountedAllocation"], exclude: ["CountedAllocation"],
            swiftSettings: settings),
        .testTarget(name: "RunwayMediatorTests", dependencies: ["RunwayMediator"], swiftSettings: settings),
        .testTarget(
            name: "RunwayViewsTests", dependencies: ["RunwayJSON", "RunwayTesting", "RunwayViews"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwayScreensTests", dependencies: ["Runway", "RunwayScreens", "RunwayStorage", "RunwayTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "RunwayFormatsTests",
            dependencies: [
                "RunwayFormats", "RunwayJSON", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwayTests",
            dependencies: [
                "Runway", "RunwayFormats", "RunwayJSON", "RunwayStorage", "RunwayTesting", "RunwayTestServer",
                "RunwayTransport", "CountedAllocation",
                product("Crypto", of: "swift-crypto", with: "Command"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwayBridgeTests",
            dependencies: [
                "Runway", "RunwayBridge", "RunwayJSON", "RunwayMediator", "RunwayTesting", "RunwayTestServer",
                "RunwayTransport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwayChromiumTests",
            dependencies: [
                "Runway", "RunwayBridge", "RunwayChromium", "RunwayJSON", "RunwayTesting", "RunwayTestServer",
                "RunwayViews",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwaySignaturesTests",
            dependencies: [
                "RunwayFormats", "RunwaySignatures", "RunwayTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                product("Crypto", of: "swift-crypto", with: "Command"),
                product("CryptoExtras", of: "swift-crypto", with: "Command"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwayTUFTests",
            dependencies: [
                "RunwaySignatures", "RunwayTesting", "RunwayTUF",
                product("Crypto", of: "swift-crypto", with: "Command"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwayBundlesTests",
            dependencies: [
                "Runway", "RunwayBridge", "RunwayBundleRepository", "RunwayBundles", "RunwayMediator",
                "RunwaySignatures",
                "RunwayTesting", "RunwayTestServer", "RunwayTransport", "RunwayTUF",
                product("Crypto", of: "swift-crypto", with: "Command"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwayBundleRepositoryTests",
            dependencies: ["RunwayBundleRepository", "RunwaySignatures", "RunwayTUF"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwayScriptsTests",
            dependencies: [
                "Runway", "RunwayBundles", "RunwayDemo", "RunwayJSON", "RunwayScripts", "RunwayTesting",
                "RunwayTestServer", "RunwayViews",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: scriptSettings
        ),
        .testTarget(
            name: "RunwaySigningTests",
            dependencies: [
                "Runway", "RunwaySignatures", "RunwaySigning", "RunwayTransport", "RunwayTesting", "RunwayTestServer",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                product("Crypto", of: "swift-crypto", with: "Command"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwayStorageTests",
            dependencies: [
                "Runway", "RunwayFiles", "RunwayFormats", "RunwayJSON", "RunwaySQLite", "RunwayStorage",
                "RunwayTesting", "RunwayZlib",
                product("Crypto", of: "swift-crypto", with: "Command"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                product("GRDB", of: "GRDB.swift", with: "Command"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwayTablesTests",
            dependencies: [
                "Runway", "RunwayBridge", "RunwayJSON", "RunwaySQLite", "RunwayStorage", "RunwayTables",
                "RunwayTesting", "RunwayTestServer", "RunwayTransport", "RunwayViews",
                product("Crypto", of: "swift-crypto", with: "Command"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                product("GRDB", of: "GRDB.swift", with: "Command"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwaySyncCoreTests", dependencies: ["RunwayJSON", "RunwaySyncCore", "RunwaySyncSimulator"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwaySyncTests",
            dependencies: [
                "Runway", "RunwayJSON", "RunwayServer", "RunwayServerStorage", "RunwayStorage", "RunwayStreams",
                "RunwaySync", "RunwaySyncCore", "RunwaySyncSimulator", "RunwayTables", "RunwayTesting",
                "RunwayTestServer", "RunwayTransport",
                product("Hummingbird", of: "hummingbird", with: "Command"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                product("GRDB", of: "GRDB.swift", with: "Command"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "StreamFixtures",
            dependencies: [
                "Runway", "RunwayJSON", "RunwayStreams", "RunwayServer", "RunwayTransport", "RunwayDemo",
                "RunwayTesting", "RunwayTestServer",
                product("Hummingbird", of: "hummingbird", with: "Command"),
                product("HummingbirdCore", of: "hummingbird", with: "Command"),
                product("HummingbirdHTTP2", of: "hummingbird", with: "Command"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                product("NIOCore", of: "swift-nio", with: "Command"),
                product("ServiceLifecycle", of: "swift-service-lifecycle", with: "Command"),
            ],
            path: "Tests/StreamFixtures",
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwayStreamsTests",
            dependencies: [
                "Runway", "RunwayFormats", "RunwayJSON", "RunwayStreams", "RunwayServer", "RunwayServerStorage",
                "RunwayTransport", "RunwayDemo", "RunwayTesting", "RunwayTestServer", "StreamFixtures",
                product("Hummingbird", of: "hummingbird", with: "Command"),
                product("HummingbirdCore", of: "hummingbird", with: "Command"),
                product("HummingbirdHTTP2", of: "hummingbird", with: "Command"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                product("NIOCore", of: "swift-nio", with: "Command"),
                product("ServiceLifecycle", of: "swift-service-lifecycle", with: "Command"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwayChatTests",
            dependencies: [
                "Runway", "RunwayChat", "RunwayFormats", "RunwayJSON", "RunwayStreams", "RunwayServer",
                "RunwayServerStorage", "RunwayTransport", "RunwayTesting", "StreamFixtures",
                product("Hummingbird", of: "hummingbird", with: "Command"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                product("ServiceLifecycle", of: "swift-service-lifecycle", with: "Command"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwayTransportTests",
            dependencies: [
                "Runway", "RunwayJSON", "RunwayTransport", "RunwayTesting", "RunwayTestServer", "RunwayDemo",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                product("NIOCore", of: "swift-nio", with: "Command"),
                product("NIOPosix", of: "swift-nio", with: "Command"),
                product("NIOWebSocket", of: "swift-nio", with: "Command"),
                product("NIOHTTP1", of: "swift-nio", with: "Command"),
                product("NIOHPACK", of: "swift-nio-http2", with: "Command"),
                product("NIOHTTP2", of: "swift-nio-http2", with: "Command"),
                product("AsyncHTTPClient", of: "async-http-client", with: "Command"),
                product("NIOSSL", of: "swift-nio-ssl", with: "Command"),
                product("NIOTLS", of: "swift-nio", with: "Command"),
                product("X509", of: "swift-certificates", with: "Command"),
                product("SwiftASN1", of: "swift-asn1", with: "Command"),
                product("Crypto", of: "swift-crypto", with: "Command"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwayServerTests",
            dependencies: [
                "Runway", "RunwayFormats", "RunwayJSON", "RunwayMediator", "RunwaySignatures", "RunwaySigning",
                "RunwayServer", "RunwayServerStorage", "RunwayStorage", "RunwayStreams", "RunwayChat",
                "RunwayTransport", "RunwayTesting", "RunwayTestServer", "RunwayDemo", "RunwaySyncCore",
                "RunwaySyncSimulator",
                product("Hummingbird", of: "hummingbird", with: "Command"),
                product("HummingbirdCore", of: "hummingbird", with: "Command"),
                product("HummingbirdHTTP2", of: "hummingbird", with: "Command"),
                product("AsyncHTTPClient", of: "async-http-client", with: "Command"),
                product("Crypto", of: "swift-crypto", with: "Command"),
                product("X509", of: "swift-certificates", with: "Command"),
                product("SwiftASN1", of: "swift-asn1", with: "Command"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                product("NIOCore", of: "swift-nio", with: "Command"),
                product("NIOPosix", of: "swift-nio", with: "Command"),
                product("NIOHTTP1", of: "swift-nio", with: "Command"),
                product("NIOHTTPTypes", of: "swift-nio-extras", with: "Command"),
                product("NIOHTTPTypesHTTP1", of: "swift-nio-extras", with: "Command"),
                product("NIOResumableUpload", of: "swift-nio-extras", with: "Command"),
                product("NIOSSL", of: "swift-nio-ssl", with: "Command"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwayServerStorageTests",
            dependencies: [
                "RunwayServer", "RunwayServerStorage", "RunwaySQLite", "RunwaySignatures", "RunwaySyncCore",
                "RunwaySyncSimulator", "RunwayTesting",
                product("Crypto", of: "swift-crypto", with: "Command"),
                product("GRDB", of: "GRDB.swift", with: "Command"),
                product("Hummingbird", of: "hummingbird", with: "Command"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                product("NIOCore", of: "swift-nio", with: "Command"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwayPostgreSQLTests",
            dependencies: [
                "RunwayServer", "RunwaySignatures", "RunwayPostgreSQL", "RunwaySyncCore", "RunwaySyncSimulator",
                product("Hummingbird", of: "hummingbird", with: "Command"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "RunwayTestingTests",
            dependencies: [
                "Runway", "RunwayJSON", "RunwayTesting", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwayTestServerTests",
            dependencies: [
                "RunwayTestServer", "RunwayTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                product("NIOCore", of: "swift-nio", with: "Command"),
                product("NIOPosix", of: "swift-nio", with: "Command"),
                product("NIOSSL", of: "swift-nio-ssl", with: "Command"),
                product("X509", of: "swift-certificates", with: "Command"),
                product("SwiftASN1", of: "swift-asn1", with: "Command"),
                product("Crypto", of: "swift-crypto", with: "Command"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwayDemoTests",
            dependencies: [
                "Runway", "RunwayDemo", "RunwayTransport", "RunwayTesting",
                product("AsyncHTTPClient", of: "async-http-client", with: "Command"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                product("NIOCore", of: "swift-nio", with: "Command"),
                product("NIOPosix", of: "swift-nio", with: "Command"),
                product("NIOHTTP1", of: "swift-nio", with: "Command"),
                product("NIOSSL", of: "swift-nio-ssl", with: "Command"),
                product("ServiceLifecycle", of: "swift-service-lifecycle", with: "Command"),
                product("X509", of: "swift-certificates", with: "Command"),
                product("SwiftASN1", of: "swift-asn1", with: "Command"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RunwayCommandTests",
            dependencies: [
                "RunwayChromium", "RunwayCommand", "RunwayDemo", "RunwaySignatures", "RunwayTesting",
                "RunwayTestServer",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                product("Crypto", of: "swift-crypto", with: "Command"),
                product("NIOCore", of: "swift-nio", with: "Command"),
                product("NIOPosix", of: "swift-nio", with: "Command"),
            ],
            swiftSettings: scriptSettings
        ),
        .testTarget(
            name: "TidyTests",
            dependencies: [
                "Runway", "RunwayJSON", "RunwayTransport", "RunwayTesting", "RunwayTestServer",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
    ]
)

// `Scripts/sample-server.sh` builds the samples here, with what is built of this package: as packages of their own they would compile it anew.
// Nobody who uses the package builds them.
if Context.environment["RUNWAY_SAMPLES"] != nil {
    package.targets += [
        .executableTarget(
            name: "SampleServer",
            dependencies: [
                "RunwayServer", "RunwayServerStorage", "RunwaySignatures",
                product("Hummingbird", of: "hummingbird", with: "Command"),
                product("ServiceLifecycle", of: "swift-service-lifecycle", with: "Command"),
                product("Crypto", of: "swift-crypto", with: "Command"),
            ],
            path: "Samples/Server/Sources/SampleServer"
        ),
        .executableTarget(
            name: "SampleClient",
            dependencies: [
                "Runway", "RunwayBridge", "RunwayBundles", "RunwayChromium", "RunwayJSON", "RunwayMediator",
                "RunwayScripts", "RunwaySigning", "RunwayStorage", "RunwayStreams", "RunwayChat", "RunwayTables",
                "RunwayTransport", "RunwayViews",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                product("Crypto", of: "swift-crypto", with: "Command"),
            ],
            path: "Samples",
            exclude: ["Card", "SwiftUI", "UIKit", "Web", "README.md", "Server/Package.swift", "Server/Sources"],
            sources: ["Shared", "Server/Client"]
        ),
    ]
}
