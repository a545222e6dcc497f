import Foundation

@testable import Runway

/// Lists of hosts, in the formats of servers and of the file.
enum HostListFuzz {
    static func run(_ input: FuzzInput) {
        let narrow = HostListPolicy(
            allowsPrivateAddresses: true, maximumByteCount: 300, maximumHosts: 2, maximumAddressesPerHost: 2)
        for policy in [.standard, HostListPolicy(allowsPrivateAddresses: true), narrow] {
            do throws(NetworkError) {
                checkList(try HostList(json: input.bytes, policy: policy), policy)
            } catch {
                checkError(error)
            }
            do throws(NetworkError) {
                let content = try HostListFile.content(of: input.bytes, policy, at: "list.json")
                checkList(content.list, policy)
                // Whoever looks whether it is of today reckons with the date.
                let start = Date(timeIntervalSince1970: 0)
                _ = Calendar(identifier: .gregorian).isDate(content.fetched, inSameDayAs: start)
            } catch {
                checkError(error)
            }
        }
    }

    private static func checkList(_ list: HostList, _ policy: HostListPolicy) {
        check((1...policy.maximumHosts).contains(list.addresses.count), "more hosts than may be, or none")
        for (host, addresses) in list.addresses {
            check(HostListPolicy.isHostName(host), "a host that is none")
            check((1...policy.maximumAddressesPerHost).contains(addresses.count), "more addresses than may be")
            check(list.addresses(of: host.uppercased()) == addresses, "a host that is not found")
            check(list.addresses(of: "x." + host).isEmpty || list.addresses["x." + host] != nil, "another's address")
            let isBound = !policy.allowsPrivateAddresses && HostListPolicy.isPublicName(host)
            check(!isBound || addresses.allSatisfy(\.isPublic), "an address within under a name of the internet")
        }
        check((.seconds(60) ... .seconds(30 * 86_400)).contains(list.lifetime), "a lifetime out of bounds")
        let wide = HostListPolicy(
            allowsPrivateAddresses: policy.allowsPrivateAddresses, coversPlainHTTP: policy.coversPlainHTTP,
            maximumByteCount: .max,
            maximumHosts: policy.maximumHosts, maximumAddressesPerHost: policy.maximumAddressesPerHost)
        check((try? HostList(json: list.json, policy: wide)) == list, "another list when it is read again")
    }

    private static func checkError(_ error: NetworkError) {
        check(error.description.utf8.count < 1000, "a long error")
        check(!error.description.unicodeScalars.contains { $0.value < 0x20 }, "an error that controls a terminal")
    }
}
