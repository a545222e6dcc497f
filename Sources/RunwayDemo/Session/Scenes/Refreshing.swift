#if Command
    import Runway

    extension DemoSession {
        /// One manager, reloaded while its call is in flight.
        func pullRefreshFiveTimes() async throws {
            let lists = ListController(network: network, screen: screen)
            try await scene("A refresh pulled five times: one request, five calls", unsent: [.joined: 4]) {
                for pull in 1...5 {
                    call(
                        lists.secondHand.load(SecondHandList(city: "chengdu", page_size: 3)),
                        shouldBe: pull == 1 ? "succeeded" : "joined")
                }
                try await landed()
                shouldShow(catalogue.first(3, of: .secondHand, city: "chengdu"))
            }
        }

        /// Many managers that request the same list at the same time.
        func refreshAllTabsAtOnce() async throws {
            let tabs = (1...8).map { _ in ListController(network: network, screen: makeScreen()) }
            try await scene(
                "A refresh storm: eight screens request the same list at once, and share one request",
                unsent: [.joined: tabs.count - 1]
            ) {
                let refresh = RentalList(city: "shenzhen", pageSize: 3, delay: 4000)
                for tab in tabs { call(tab.rentals.load(refresh), shouldBe: "succeeded") }
                // When this later request has landed before, all eight have been made.
                let another = ListController(network: network, screen: screen)
                call(another.newHomes.load(NewHomesList(city: "shenzhen", limit: 3)), shouldBe: "succeeded")
                try await events.wait(for: "another list to land") { another.newHomes.rawData != nil }
                shouldShow(catalogue.first(3, of: .newHome, city: "shenzhen"))
                for tab in tabs { shouldShow([], on: tab.screen) }
                gate.open()
                try await landed()
                gate.close()
                for tab in tabs { shouldShow(catalogue.first(3, of: .rental, city: "shenzhen"), on: tab.screen) }
            }
        }
    }
#endif
