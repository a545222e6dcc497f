/// Advice for options of curl that users type at `runway call` out of habit.
enum CurlHabits {
    /// Returns the option of `runway call` to use instead; `nil` if the unknown option is not a common option of curl.
    ///
    /// - Parameter message: The parser's message about the unknown option.
    static func advice(on message: String) -> String? {
        guard let option = message.prefixMatch(of: /Unknown option '(--[^']+|-\w)/)?.output.1,
            let replacement = replacement(of: option)
        else { return nil }
        return "There is no option \(option) as in curl: \(replacement)."
    }

    private static func replacement(of option: Substring) -> String? {
        switch option {
        case "-H", "--header": "a header field is an item, as in 'Name:value'"
        case "-d", "--data", "--data-raw", "--data-binary", "--data-urlencode":
            "items such as name=value make a body, and --body FILE sends a file as the body"
        case "-X", "--request": "the method comes before the URL, as in runway call PUT URL"
        case "-u", "--user": "name and password are passed by --auth user:password"
        case "-F": "--form makes a form of items such as name=value, and name@file adds a file to it"
        case "-L", "--location": "redirects are followed unless --no-follow is given"
        case "-s", "--silent": "progress is shown on a terminal alone"
        case "--head": "HEAD is a method, as in runway call HEAD URL"
        default: nil
        }
    }
}
