import Runway

extension DemoSession {
    /// What the user does, from the first screen to the last.
    func playScenes() async throws {
        try await openLists()
        try await openMap()
        try await openDetail()
        try await pullRefreshFiveTimes()
        try await changeFilterFasterThanTheServerAnswers()
        try await leaveAScreenInTheAir()
        try await giveABadParameter()
        try await meetTrouble()
    }

    private func openLists() async throws {
        let lists = ListController(network: network, screen: screen)
        try await scene("The second-hand team's list") {
            call(lists.secondHand.load(SecondHandList(city: "shanghai")), shouldBe: "succeeded")
            try await landed()
        }
        try await scene("The rental team's list, through the same reformer into the same row view") {
            call(lists.rentals.load(RentalList(city: "beijing")), shouldBe: "succeeded")
            try await landed()
        }
        try await scene("The new-homes team's list, likewise; the endpoint completes its own parameters") {
            call(lists.newHomes.load(NewHomesList(city: "Hangzhou")), shouldBe: "succeeded")
            try await landed()
        }
    }

    private func openMap() async throws {
        let map = MapController(network: network, screen: screen)
        try await scene("One answer through two reformers: rows, and pins on a map") {
            call(map.homes.load(SecondHandList(city: "shenzhen", page_size: 3)), shouldBe: "succeeded")
            try await landed()
        }
    }

    private func openDetail() async throws {
        let lists = ListController(network: network, screen: screen)
        try await scene("A home that there is") {
            call(lists.detail.load(SecondHandDetail(id: "E100007")), shouldBe: "succeeded")
            try await landed()
        }
        try await scene("A home that there is not") {
            call(lists.detail.load(SecondHandDetail(id: "E000000")), shouldBe: "failed: service")
            try await landed()
        }
    }

    private func pullRefreshFiveTimes() async throws {
        let lists = ListController(network: network, screen: screen)
        try await scene("A refresh pulled five times: one request, five calls") {
            for pull in 1...5 {
                call(
                    lists.secondHand.load(SecondHandList(city: "chengdu", page_size: 3)),
                    shouldBe: pull == 1 ? "succeeded" : "ignored")
            }
            try await landed()
        }
    }

    private func changeFilterFasterThanTheServerAnswers() async throws {
        let lists = ListController(network: network, screen: screen)
        try await scene("A filter changed faster than the server answers: only the newest lands") {
            let before = backend.statistics.routes["/zf/list"]?.requests ?? 0
            for (change, rent) in [9000, 8000, 7000, 6000].enumerated() {
                let isLast = change == 3
                call(
                    lists.rentals.load(
                        RentalList(city: "shanghai", maximumRent: rent, pageSize: 3, delay: isLast ? nil : 4000)),
                    shouldBe: isLast ? "succeeded" : "replaced")
                // The user's next change comes when the server is at work on this one.
                try await arrived(before + change + 1, at: "/zf/list")
            }
            try await landed()
        }
    }

    private func leaveAScreenInTheAir() async throws {
        try await scene("A screen left while its call is in the air: nothing lands") {
            let before = backend.statistics.routes["/zf/list"]?.requests ?? 0
            var lists: ListController? = ListController(network: network, screen: screen)
            call(lists?.rentals.load(RentalList(city: "beijing", delay: 4000)), shouldBe: "cancelled")
            try await arrived(before + 1, at: "/zf/list")
            screen.show([])
            lists = nil
            try await landed()
        }
    }

    private func giveABadParameter() async throws {
        let lists = ListController(network: network, screen: screen)
        try await scene("A bad parameter, which never leaves the app") {
            call(
                lists.secondHand.load(SecondHandList(city: "shanghai", page: 0)), shouldBe: "failed: invalidParameters")
            try await landed()
        }
    }

    private func meetTrouble() async throws {
        let trouble = TroubleController(network: network, screen: screen)
        try await scene("A server that fails") {
            call(trouble.failing.load(FailingList(status: 500)), shouldBe: "failed: refused")
            try await landed()
        }
        try await scene("A server that is overloaded") {
            call(trouble.failing.load(FailingList(status: 503)), shouldBe: "failed: overloaded")
            try await landed()
        }
        try await scene("A server that is too slow for this user") {
            call(trouble.slow.load(SlowList(delay_ms: 4000)), shouldBe: "failed: timedOut")
            try await landed()
        }
        try await scene("An answer that ends in its middle") {
            call(trouble.truncated.load(TruncatedList()), shouldBe: "failed: invalidAnswer")
            try await landed()
        }
        try await scene("Status 200, and an error of the service's own inside") {
            call(trouble.envelope.load(FailingEnvelope(error: "unknown_place")), shouldBe: "failed: service")
            try await landed()
        }
        try await scene("Status 200, and inside: log in again") {
            call(trouble.envelope.load(FailingEnvelope(error: "login_required")), shouldBe: "failed: needsLogin")
            try await landed()
        }
        screen.show([])
        try await scene("An error that is not the business's affair: absorbed, the screen stays") {
            call(trouble.envelope.load(FailingEnvelope(error: "housekeeping")), shouldBe: "absorbed")
            try await landed()
        }
    }
}
