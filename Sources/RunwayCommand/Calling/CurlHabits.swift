/// What `runway call` has in place of the options of curl that are typed out of habit.
enum CurlHabits {
    /// Says what to write instead of an unknown option; `nil` if it is not one of curl's most used ones.
    ///
    /// - Parameter message: What the parser of the command line says of the option.
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
