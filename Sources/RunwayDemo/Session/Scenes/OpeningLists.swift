#if Command
    import Runway

    extension DemoSession {
        /// Lists of three teams, through one reformer into one row view.
        func openLists() async throws {
            let lists = ListController(network: network, screen: screen)
            try await scene("The second-hand team's list") {
                call(lists.secondHand.load(SecondHandList(city: "shanghai")), shouldBe: "succeeded")
                try await landed()
                shouldShow(catalogue.first(5, of: .secondHand, city: "shanghai"))
            }
            try await scene("The rental team's list, through the same reformer into the same row view") {
                call(lists.rentals.load(RentalList(city: "beijing")), shouldBe: "succeeded")
                try await landed()
                shouldShow(catalogue.first(5, of: .rental, city: "beijing"))
            }
            try await scene("The new-homes team's list, likewise; the endpoint completes its own parameters") {
                call(lists.newHomes.load(NewHomesList(city: "Hangzhou")), shouldBe: "succeeded")
                try await landed()
                shouldShow(catalogue.first(5, of: .newHome, city: "hangzhou"))
            }
        }
    }
#endif
