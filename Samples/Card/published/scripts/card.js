// A tap opens the card, or closes it. The app that was released knows neither the event's meaning nor `isOpen`.
on("home.tap", card => ({ ...card, isOpen: !card.isOpen }))
