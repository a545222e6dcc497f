import RunwayMediator
import Synchronization
import Testing

@MainActor struct ServiceTests {
    @Test func servicesAreMadeOnce() async throws {
        let counter = Counter()
        let mediator = Mediator { CountingModule(counter: counter) }
        #expect(counter.value == 0)
        let names = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { @concurrent in try mediator.service((any Accounts).self).name } }
            var names: [String] = []
            for try await name in group { names.append(name) }
            return names
        }
        #expect(Set(names) == ["account 1"] && counter.value == 1)
    }

    @Test func servicesUseServicesOfOtherModules() async throws {
        let mediator = Mediator {
            CountingModule(counter: Counter())
            NamedOrdersModule()
        }
        #expect(try await mediator.service((any Orders).self).summary(of: 7) == Summary(count: 9))
    }

    @Test func missingServicesAreErrors() {
        let mediator = Mediator { HelpModule() }
        #expect(kind { try mediator.service((any Orders).self) } == .noService)
    }

    @Test func modulesWithoutPagesSupplyServices() throws {
        let mediator = Mediator(fallback: .web("https://m.example.com")) { CountingModule(counter: Counter()) }
        #expect(try mediator.service((any Accounts).self).name == "account 1")
        #expect(mediator.check().isEmpty)
    }

    @Test func servicesThatNeedThemselvesStopTheProcess() async {
        await #expect(processExitsWith: .failure) {
            let mediator = await Mediator { CircularModule() }
            _ = try mediator.service((any Accounts).self)
        }
    }

    @Test func noAddressCallsAService() {
        let counter = Counter()
        let mediator = Mediator { CountingModule(counter: counter) }
        for address in ["app://Accounts/name", "app:///name", "app://accounts/name", "app://never/name"] {
            mediator.open(address, from: .app)
        }
        #expect(counter.value == 0)
    }
}

final class Counter: Sendable {
    /// Guards the count.
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func increment() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }
}

struct CountingModule: Module {
    typealias Pages = Never
    struct Account: Accounts { let name: String }
    let counter: Counter
    var services: [Service] {
        [Service((any Accounts).self) { [counter] in Account(name: "account \(counter.increment())") }]
    }
}

struct CircularModule: Module {
    typealias Pages = Never
    var services: [Service] {
        [
            Service((any Accounts).self) { mediator in
                CountingModule.Account(name: (try? mediator.service((any Orders).self)).map { "\($0)" } ?? "")
            },
            Service((any Orders).self) { mediator in
                NamedOrdersModule.NamedOrders(name: (try? mediator.service((any Accounts).self).name) ?? "")
            },
        ]
    }
}

struct NamedOrdersModule: Module {
    typealias Pages = Never
    struct NamedOrders: Orders {
        let name: String
        func summary(of id: Int) -> Summary { Summary(count: name.count) }
    }
    var services: [Service] {
        [
            Service((any Orders).self) { mediator in
                NamedOrders(name: (try? mediator.service((any Accounts).self).name) ?? "")
            }
        ]
    }
}
