// Draws the card, with a rule that card.json can't express: a low price of a square metre has the colour of the price.
// card.json is shown if this fails.
const news = "Viewings on Sunday from two to five · No fee this week · "

view("card", card => ({
    node: "box", gap: 6, paddingInline: 16, paddingBlock: 14, background: "$surface", border: "$line", radius: 14,
    on: { tap: { name: "home.tap", detail: "{id}" } },
    children: [
        { node: "text", text: "{title}", font: "title3", weight: "semibold", lines: 2 },
        { node: "box", layout: "row", gap: 8, align: "center", width: "fill", children: [
            { node: "text", text: "{price}", font: "title3", weight: "bold", color: "$accent" },
            { node: "spacer" },
            { node: "text", text: "{unitPrice}", font: "footnote",
              color: parseInt(card.unitPrice.replace(",", "")) < 50000 ? "$accent" : "$muted" } ] },
        { node: "text", text: "{place}", font: "footnote", color: "$muted" },
        // The app opens the page at the address.
        { node: "text", if: "{isOpen}", text: "{address}", font: "callout",
          on: { tap: { name: "page.open", detail: `app://homes/map?id=${encodeURIComponent(card.id)}` } } },
        { node: "box", layout: "overlay", clip: true, width: "fill", paddingBlock: 6, radius: 8, background: "$banner",
          children: [
            { node: "text", text: news.repeat(2), label: news, width: "content", lines: 1, font: "footnote",
              color: "$onBanner", animate: { property: "slide", from: 0, to: -50, seconds: 12 } } ] },
    ],
}))
