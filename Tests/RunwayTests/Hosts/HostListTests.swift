import Foundation
import Runway
import RunwayTesting
import Testing

/// What a list of addresses may hold.
struct HostListTests {
    private func failure(_ json: String, policy: HostListPolicy = .standard) -> String {
        do throws(NetworkError) {
            _ = try HostList(json: Array(json.utf8), policy: policy)
            return "accepted"
        } catch {
            return error.description
        }
    }

    @Test func theFormatIsReadAndWritten() throws {
        let text = #"{"hosts":{"api.example.com":["203.0.113.7","2001:db8::7"]},"ttl":3600}"#
        let list = try HostList(json: Array(text.utf8))

        #expect(list.addresses(of: "API.example.com").map(\.description) == ["203.0.113.7", "2001:db8::7"])
        #expect(list.addresses(of: "example.com").isEmpty)
        #expect(list.addresses(of: "www.api.example.com").isEmpty)
        #expect(list.lifetime == .seconds(3600))
        #expect(String(decoding: list.json, as: UTF8.self) == text)
    }

    @Test func absentMembersDefaultAndUnknownOnesAreIgnored() throws {
        let list = try HostList(json: Array(#"{"hosts":{"a.example":["203.0.113.7"]},"more":[1]}"#.utf8))
        #expect(list.lifetime == .seconds(86_400))
        let eternal = try HostList(
            json: Array(#"{"hosts":{"a.example":["203.0.113.7"]},"ttl":9223372036854775807}"#.utf8))
        #expect(eternal.lifetime == .seconds(30 * 86_400))
    }

    @Test(arguments: [
        ("", "is not JSON"), ("[]", "no object \"hosts\""), ("{\"hosts\":{}}", "is empty"),
        (#"{"hosts":{"a.example":[]}}"#, "0 addresses"), (#"{"hosts":{"a.example":"203.0.113.7"}}"#, "not an array"),
        (#"{"hosts":{"a.example":[7]}}"#, "not a string"), (#"{"hosts":{"a.example":["a.example"]}}"#, "not an IP"),
        (#"{"hosts":{"a.example":["203.0.113.7:443"]}}"#, "not an IP"),
        (#"{"hosts":{"a.example":["203.0.113.007"]}}"#, "not an IP"),
        (#"{"hosts":{"a.example":["fe80::1%eth0"]}}"#, "not an IP"),
        (#"{"hosts":{"a.example":["203.0.113.7 "]}}"#, "not an IP"),
        (#"{"hosts":{"*.example":["203.0.113.7"]}}"#, "not the name of one host"),
        (#"{"hosts":{"*":["203.0.113.7"]}}"#, "not the name of one host"),
        (#"{"hosts":{"":["203.0.113.7"]}}"#, "not the name of one host"),
        (#"{"hosts":{"203.0.113.9":["203.0.113.7"]}}"#, "not the name of one host"),
        (#"{"hosts":{"0x7f.1":["203.0.113.7"]}}"#, "not the name of one host"),
        (#"{"hosts":{"a.example:443":["203.0.113.7"]}}"#, "not the name of one host"),
        (#"{"hosts":{"a..example":["203.0.113.7"]}}"#, "not the name of one host"),
        (#"{"hosts":{"-a.example":["203.0.113.7"]}}"#, "not the name of one host"),
        (#"{"hosts":{"ä.example":["203.0.113.7"]}}"#, "not the name of one host"),
        (#"{"hosts":{"a.example":["203.0.113.7"],"A.example":["203.0.113.8"]}}"#, "twice"),
        (#"{"hosts":{"a.example":["203.0.113.7"]},"ttl":0}"#, "ttl"),
        (#"{"hosts":{"a.example":["203.0.113.7"]},"ttl":"1"}"#, "ttl"),
    ])
    func whatIsNoListIsRefused(json: String, reason: String) {
        #expect(failure(json).contains(reason), "\(failure(json))")
    }

    @Test(arguments: [
        "127.0.0.1", "10.0.0.1", "172.16.3.4", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:192.168.0.1",
        "64:ff9b::7f00:1", "2002:7f00:1::", "2002:c0a8:101::1", "168.63.129.16",
    ])
    func localAddressesAreRefusedUnderAPublicName(address: String) {
        let json = #"{"hosts":{"api.example.com":["\#(address)"]}}"#
        #expect(failure(json).contains("is not an address of the internet"))
        #expect(failure(json, policy: HostListPolicy(allowsPrivateAddresses: true)) == "accepted")
        #expect(failure(#"{"hosts":{"printer.local":["\#(address)"]}}"#) == "accepted")
        #expect(failure(#"{"hosts":{"localhost":["\#(address)"]}}"#) == "accepted")
    }

    @Test func publicAddressesArePublic() {
        for text in [
            "8.8.8.8", "203.0.113.7", "172.32.0.1", "100.128.0.1", "2001:db8::7", "2606:4700::1", "::ffff:8.8.8.8",
        ] {
            #expect(IPAddress(text)?.isPublic == true, "\(text)")
        }
    }

    @Test func mappedAddressesAreThoseOfIPv4() {
        #expect(IPAddress("::ffff:203.0.113.7")?.unmapped == IPAddress("203.0.113.7"))
        for text in ["203.0.113.7", "2001:db8::7", "::1", "::203.0.113.7"] {
            #expect(IPAddress(text)?.unmapped == IPAddress(text))
        }
    }

    @Test func aHugeListIsRefused() {
        let many = (0..<300).map { "\"h\($0).example\":[\"203.0.113.7\"]" }.joined(separator: ",")
        #expect(failure("{\"hosts\":{\(many)}}").contains("300 hosts; at most 256"))
        let addresses = (0..<40).map { "\"203.0.113.\($0)\"" }.joined(separator: ",")
        #expect(failure("{\"hosts\":{\"a.example\":[\(addresses)]}}").contains("at most 32 addresses"))
        let padding = String(repeating: " ", count: 300_000)
        #expect(failure("{\"hosts\":{\"a.example\":[\"203.0.113.7\"]}\(padding)}").contains("at most 262144"))
        #expect(failure(String(repeating: "[", count: 1000)).contains("is not JSON"))
    }

    @Test func hostileNamesAreShortenedInErrors() {
        let name = String(repeating: "a", count: 5000) + "\\u001b[2J"
        let text = failure("{\"hosts\":{\"\(name)\":[\"203.0.113.7\"]}}")
        #expect(text.count < 200)
        #expect(!failure("{\"hosts\":{\"\\u001b[2J\":[\"203.0.113.7\"]}}").contains("\u{1B}"))
    }

    @Test func mutatedListsNeverCrash() {
        let sample = Array(#"{"hosts":{"api.example.com":["203.0.113.7","2001:db8::7"]},"ttl":86400}"#.utf8)
        for seed in 0..<2000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var bytes = sample
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(sample.randomElement(using: &random) ?? 0, at: index)
                }
            }
            guard let list = try? HostList(json: bytes) else { continue }
            // Whatever is accepted is written so that it is read as the same.
            #expect((try? HostList(json: list.json)) == list, "seed \(seed)")
            #expect(list.addresses.allSatisfy { name, addresses in !addresses.isEmpty && !name.contains("*") })
        }
    }
}
