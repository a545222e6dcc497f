// Reads the same five fields of each item into rows with simdjson's on-demand reader, and prints the nanoseconds of
// processor time of every round, one a line. The input is padded once, outside the measured time.
//
// Usage: simdjson-peer FILE ROUNDS PASSES_A_ROUND

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <simdjson.h>
#include <string>
#include <vector>

struct Row {
    std::string title;
    std::string layout;
    std::string cover;
    int64_t price;
    double area;
};

static long long processor_nanoseconds() {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static size_t read_rows(simdjson::ondemand::parser &parser, const simdjson::padded_string &json) {
    std::vector<Row> rows;
    auto document = parser.iterate(json);
    for (auto item : document["data"]["list"].get_array()) {
        Row row;
        // In the order of the document, as its own documentation advises.
        row.title = std::string(item["title"].get_string().value());
        row.price = item["price"].get_int64().value();
        row.area = item["area"].get_double().value();
        row.layout = std::string(item["layout"].get_string().value());
        row.cover = std::string(item["cover"].get_string().value());
        rows.push_back(std::move(row));
    }
    return rows.size();
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    auto json = simdjson::padded_string::load(argv[1]).value();
    int rounds = std::atoi(argv[2]);
    int passes = std::atoi(argv[3]);
    simdjson::ondemand::parser parser;
    size_t count = 0;
    for (int round = 0; round < rounds; round++) {
        long long start = processor_nanoseconds();
        for (int pass = 0; pass < passes; pass++) count += read_rows(parser, json);
        std::printf("%lld\n", (processor_nanoseconds() - start) / passes);
    }
    return count == 0;
}
