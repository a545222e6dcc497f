#if Command
    import Runway

    extension DemoSession {
        private func makeLists(on other: Screen? = nil) -> ListController {
            ListController(network: network, screen: other ?? screen)
        }

        /// Opens the lists of three teams. One `Reformer` converts their responses for one row view.
        func openLists() async throws {
            let lists = makeLists()
            try await scene("The second-hand team's list") {
                try await call(
                    lists.secondHand.load(SecondHandList(city: "shanghai")),
                    shows: catalogue.first(5, of: .secondHand, city: "shanghai"))
            }
            try await scene("The rental team's list, through the same reformer into the same row view") {
                try await call(
                    lists.rentals.load(RentalList(city: "beijing")),
                    shows: catalogue.first(5, of: .rental, city: "beijing"))
            }
            try await scene("The new-homes team's list, in the same way; the endpoint completes its own parameters") {
                try await call(
                    lists.newHomes.load(NewHomesList(city: "Hangzhou")),
                    shows: catalogue.first(5, of: .newHome, city: "hangzhou"))
            }
        }

        /// Opens a list and a map. Two `Reformer` types convert one response for them.
        func openMap() async throws {
            let map = MapController(network: network, screen: screen)
            try await scene("One response through two reformers: rows, and pins on a map") {
                call(map.homes.load(SecondHandList(city: "shenzhen", page_size: 3)), shouldBe: "succeeded")
                try await landed()
                let homes = catalogue.first(3, of: .secondHand, city: "shenzhen")
                shouldShow(lines: homes.map(\.rowText) + homes.map(\.pinText))
            }
        }

        /// Opens a home that exists, and one that does not.
        func openDetails() async throws {
            let lists = makeLists()
            try await scene("A home that there is") {
                try await call(
                    lists.detail.load(SecondHandDetail(id: "E100007")),
                    shows: catalogue[.secondHand].filter { $0.number == 7 })
            }
            try await scene("A home that there is not") {
                try await call(
                    lists.detail.load(SecondHandDetail(id: "E000000")), failsAs: "service", saying: "1404")
            }
        }

        /// Opens a details screen, leaves it, and opens it again.
        func openADetailAgainAndAgain() async throws {
            let openings = 6
            try await scene(
                "A details screen opened six times: requested once, then read from memory",
                unsent: [.fromCache: openings - 1]
            ) {
                for opening in 1...openings {
                    screen.show([])
                    let lists = makeLists()
                    let flight = lists.detail.load(SecondHandDetail(id: "E100011"))
                    if opening > 1, lists.detail.rawData == nil {
                        note("the cached response had not landed when load returned")
                    }
                    try await call(flight, shows: catalogue[.secondHand].filter { $0.number == 11 })
                }
            }
        }

        /// Reloads one manager while its call is in flight.
        func pullRefreshFiveTimes() async throws {
            let lists = makeLists()
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

        /// Requests the same list with several managers at the same time.
        func refreshAllTabsAtOnce() async throws {
            let tabs = (1...8).map { _ in makeLists(on: makeScreen()) }
            try await scene(
                "A refresh storm: eight screens request the same list at once, and share one request",
                unsent: [.joined: tabs.count - 1]
            ) {
                let refresh = RentalList(city: "shenzhen", pageSize: 3, delay: 4000)
                for tab in tabs { call(tab.rentals.load(refresh), shouldBe: "succeeded") }
                // This request is made last. When its response has arrived, the eight other requests have been made,
                // too.
                let another = makeLists()
                call(another.newHomes.load(NewHomesList(city: "shenzhen", limit: 3)), shouldBe: "succeeded")
                try await wait(for: "another list to land") { another.newHomes.rawData != nil }
                shouldShow(catalogue.first(3, of: .newHome, city: "shenzhen"))
                for tab in tabs { shouldShow([], on: tab.screen) }
                try await releaseResponses()
                for tab in tabs { shouldShow(catalogue.first(3, of: .rental, city: "shenzhen"), on: tab.screen) }
            }
        }

        func changeFilterFasterThanTheServerResponds() async throws {
            let lists = makeLists()
            try await scene("A filter changed faster than the server responds: only the newest lands") {
                for (change, rent) in [9000, 8000, 7000, 6000].enumerated() {
                    let isLast = change == 3
                    let filter = RentalList(
                        city: "shanghai", maximumRent: rent, pageSize: 3, delay: isLast ? nil : 4000)
                    // The next change follows while the server processes this request.
                    try await arrival(at: "/zf/list") {
                        call(lists.rentals.load(filter), shouldBe: isLast ? "succeeded" : "replaced")
                    }
                }
                try await landed()
                shouldShow(catalogue.first(3, of: .rental, city: "shanghai", priceAtMost: 6000))
            }
        }

        /// Releases a controller while its call is in flight.
        func leaveAScreenDuringItsCall() async throws {
            try await scene("A screen left while its call is in flight: nothing lands") {
                var lists: ListController? = makeLists()
                try await arrival(at: "/zf/list") {
                    call(lists?.rentals.load(RentalList(city: "beijing", delay: 4000)), shouldBe: "cancelled")
                }
                screen.show([])
                lists = nil
                try await landed()
                shouldShow([])
            }
        }

        /// Makes many small calls at once. The server accepts several of them in one request.
        func openAShowroom() async throws {
            let lists = makeLists(on: makeScreen())
            let homes = Array(catalogue[.newHome].prefix(NewHomesService.showroomCount))
            let ids = homes.map { "xf-\($0.number)" }
            let showroom = PartsController<NewHomeDetail>(network: network, screen: screen) {
                ids.firstIndex(of: $0.id) ?? 0
            }
            try await scene(
                "A showroom of nine homes, opened while a list is in flight: nine calls, one request",
                unsent: [.merged: homes.count]
            ) {
                screen.show([])
                try await arrival(at: "/xinfang/list") {
                    call(
                        lists.newHomes.load(NewHomesList(city: "shanghai", limit: 3, delay: 4000)),
                        shouldBe: "succeeded")
                }
                // The clock is held, so that the nine calls are merged even on a slow machine.
                try await clock.held {
                    for id in ids { call(showroom.parts.load(NewHomeDetail(id: id)), shouldBe: "succeeded") }
                    try await wait(for: "nine homes to land") { screen.lines.count == homes.count }
                }
                shouldShow(homes)
                try await releaseResponses()
                shouldShow(catalogue.first(3, of: .newHome, city: "shanghai"), on: lists.screen)
                shouldBe(envelopes.count, 1, "requests that carried several calls")
            }
        }
    }
#endif
