#if Command
    import Runway

    extension DemoSession {
        /// Returns the report of the session, with all differences from the expected results.
        func report() async -> DemoReport {
            await network.flushRecords()
            let (calls, envelopes) = (calls, envelopes)
            judge(calls)
            judgeWire(calls, envelopes)
            return DemoReport(seed: seed, scenes: scenes, flights: calls, envelopes: envelopes, problems: problems)
        }

        /// Checks the outcome of every call, and that its record states a reason.
        private func judge(_ calls: [FlightRecord]) {
            if calls.count != expected.count {
                problems.append("\(expected.count) calls were made, \(calls.count) recorded")
            }
            let landingCounts = landings.counted
            for (call, expectation) in zip(calls, expected) {
                let name = "\(call.id) \(call.endpoint)"
                if call.verdict != expectation.verdict {
                    problems.append("\(name) was \(call.verdict), and should be \(expectation.verdict)")
                }
                let (landed, wanted) = (landingCounts[call.id] ?? 0, expectation.lands ? 1 : 0)
                if landed != wanted { problems.append("\(name) landed \(landed) times, and should \(wanted) times") }
                let explained = call.attempts.isEmpty ? 0 : 1 + Repetition.all(of: call).count
                if call.attempts.count != explained {
                    problems.append(
                        "\(name) made \(call.attempts.count) requests, and its record explains \(explained)")
                }
                if UnsentReason(call) == .unexplained {
                    problems.append("\(name) sent no request, and the record has no reason")
                }
            }
            let known = Set(calls.map(\.id))
            for flight in landings where !known.contains(flight) {
                problems.append("\(flight) landed without a record")
            }
        }

        /// Compares the requests and bytes in the layer's records with the backend's counts.
        private func judgeWire(_ calls: [FlightRecord], _ envelopes: [FlightRecord]) {
            for flight in calls + envelopes {
                for attempt in flight.attempts where attempt.status != nil && attempt.httpVersion != "HTTP/2" {
                    problems.append("\(flight.id) used \(attempt.httpVersion ?? "an unknown version"), not HTTP/2")
                }
            }
            let attempts = (calls + envelopes).flatMap(\.attempts)
            let statistics = serving.statistics
            let merged = calls.count { UnsentReason($0) == .merged }
            let received = attempts.compactMap(\.responseByteCount).reduce(0, +)
            let comparisons = [
                (
                    "responses were received", attempts.count { $0.status != nil }, "were sent",
                    statistics.total.responses
                ),
                ("requests left merged", merged, "arrived", statistics.mergedRequests),
                ("bytes were received", received, "were sent", statistics.total.bodyBytes),
            ]
            for (what, here, done, there) in comparisons where here != there {
                problems.append("\(here) \(what), \(there) \(done)")
            }
            // A cancelled request may or may not have arrived.
            if statistics.total.requests > attempts.count {
                problems.append("\(attempts.count) requests left, \(statistics.total.requests) arrived")
            }
        }
    }

    extension FlightRecord {
        /// The outcome of the call, and the kind of its failure.
        fileprivate var verdict: String {
            outcome.error.map { "\(outcome.name): \($0.kind.name)" } ?? outcome.name
        }
    }
#endif
