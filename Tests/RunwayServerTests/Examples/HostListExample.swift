import Hummingbird
import RunwayServer

// The example in the doc comment of HostListRoute, line by line. It is compiled and not run.

func addHosts(to router: Router<BasicRequestContext>) {
    HostListRoute { ["api.example.com": ["203.0.113.7", "2001:db8::7"]] }.add(to: router.group("v1"))
}
