import Testing

@testable import RunwayCommand

/// How many columns a text takes on a terminal.
struct DisplayWidthTests {
    /// By the property East_Asian_Width of Unicode's own data.
    @Test(
        arguments: [
            ("", 0),
            ("a", 1),
            ("望月公馆", 8),
            ("“采光之王”，", 12),
            ("50.8 ㎡", 7),
            ("🏡 ok", 5),
            ("e\u{301}", 1),
            ("한국어", 6),
            ("ﾊﾝ", 2),
            ("50,000元/㎡ · 135.5", 19),
            ("…→—", 3),
        ])
    func widthsAreThoseOfUnicode(text: String, width: Int) {
        #expect(text.displayWidth == width)
    }

    @Test func cutTextEndsWithAnEllipsisAndFits() {
        for columns in 0...12 {
            let text = "望月公馆 2室".fitted(to: columns)
            #expect(text.displayWidth <= columns && (columns < 1 || columns > 11 || text.hasSuffix("…")), "\(columns)")
            #expect("望月公馆 2室".padded(to: columns).displayWidth == columns)
        }
        #expect("望月公馆 2室".fitted(to: 12) == "望月公馆 2室")
    }
}
