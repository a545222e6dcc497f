import Foundation
import Runway
import Synchronization

// Changes to which no response comes.
extension ChangeDrainer {
    /// Whether a change was sent to find out whether the server is down.
    func isProbe(_ claim: ChangeJournal.Claim) -> Bool {
        state.withLock { state in
            guard let suspect = state.suspects[claim.batch.scope] else { return false }
            return suspect.isProbing && suspect.id != claim.id
        }
    }

    /// The server has responded to a change.
    func noteSettled(_ claim: ChangeJournal.Claim) {
        let isProbe = isProbe(claim)
        state.withLock { state in
            state.faults[claim.id] = nil
            if isProbe {
                state.suspects[claim.batch.scope]?.didProbe()
            } else {
                state.suspects[claim.batch.scope] = nil
            }
        }
    }

    /// Decides what follows a change to which no response came: it is sent again, others are sent before it, or it is
    /// set aside.
    func treatLoss(
        of claim: ChangeJournal.Claim, _ error: NetworkError
    ) async throws(StorageError) -> DrainSchedule.Outcome {
        let (scope, isProbe) = (claim.batch.scope, isProbe(claim))
        var isDue = false
        if !isProbe { isDue = try await journal.noteLoss(claim) }
        let (conclusion, isProbing) = state.withLock { [isDue] state -> (SuspectedEntry.Conclusion, Bool) in
            guard var suspect = state.suspects[scope], isProbe || suspect.id == claim.id else {
                state.suspects[scope] = isDue ? SuspectedEntry(claim.id) : nil
                return (.open, isDue)
            }
            let conclusion = suspect.didLose(claim.id, isDue: isDue)
            state.suspects[scope] = suspect
            return (conclusion, suspect.isProbing)
        }
        if conclusion == .serverFailsOnIt { return try await setAside(claim, .unanswered, error) }
        // Another change can be claimed only when none is.
        if isProbe || isProbing {
            try await journal.postpone(claim, forgetsLosses: conclusion == .serverIsDown)
        }
        return .failed()
    }
}
