import Testing

@testable import RunwayViews

struct AddressTests {
    @Test(arguments: [
        "https://a.example/b.png", "https://A.example:8443/b?c=d#e", "HTTPS://a.example", "images/coupon-2.png",
        "a.png",
    ])
    func plainAddressesAreAllowed(address: String) { #expect(ViewAddresses.https.allows(address)) }

    @Test(arguments: [
        "", "javascript:alert(1)", "JAVASCRIPT:alert(1)//://", "data:image/png;base64,AA", "data://a.example/x",
        "http://a.example/",
        "//a.example/b.png", "/etc/passwd", "../b.png", "a/../b.png", "a//b.png", "a/%2e%2e/b", "./a",
        "https://user@a.example/",
        "https://a.example@b.example/", "https:///b.png", "https://a.example:port/", "https://a example/",
        "https://ä.example/",
        "https://a.example/\u{0}", "https://a.example/\"onerror=", "https://[::1]/", "https:\\\\a.example",
        " https://a.example/",
        "java\nscript://a", "https://a.example/'", "blob:https://a.example/b", "file:///etc/passwd",
    ])
    func otherAddressesAreRefused(address: String) { #expect(!ViewAddresses.https.allows(address)) }

    @Test func hostsAndSchemesAreLists() {
        let addresses = ViewAddresses(schemes: ["https", "http", "data", "java script"], hosts: ["a.example"])
        #expect(addresses.schemes == ["https", "http", "data"])
        #expect(addresses.allows("http://A.EXAMPLE/b") && addresses.allows("b.png"))
        for address in [
            "https://b.example/", "https://a.example.b.example/", "https://a.example./", "data:text/html,<script>",
        ] {
            #expect(!addresses.allows(address))
        }
    }
}
