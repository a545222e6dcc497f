import AppleFoundation
import Testing

@main
struct Main {
    static func main() async {
        for host in ["127.0.0.1", "localhost"] { FakeNetwork.serve(host, FakeWire.perform) }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
