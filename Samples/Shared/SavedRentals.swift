/// A home that the user has saved, as every view of it shows it.
struct SavedRental: Identifiable, Sendable {
    var id = 0
    var title = ""
    var note = ""
    var hasPicture = false
}

/// A message that the user has begun to write to the owner of a home.
struct MessageDraft: Sendable {
    var rental = 0
    var text = ""
}
