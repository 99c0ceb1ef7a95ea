// The program random_histories DIR FIRST COUNT writes COUNT small random histories (the calls of a
// run) into DIR, one file for each seed from FIRST on. For each history it prints the seed and the
// verdict of certify(). test_second_opinion.py runs the program, and judges the same files with an
// independent implementation.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "checker/certify/certify.h"
#include "checker/history/history_file.h"
#include "checker/tests/random_history.h"
#include "checker/witness/report.h"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr,
                 "usage: random_histories DIR FIRST COUNT (writes COUNT histories to the folder "
                 "DIR, with seeds from FIRST on)\n");
    return 2;
  }
  const uint64_t first = std::strtoull(argv[2], nullptr, 10);
  const uint64_t count = std::strtoull(argv[3], nullptr, 10);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    keydrome::RandomHistoryOptions options;
    options.transactions = static_cast<uint32_t>(2 + seed % 4);
    options.keys = static_cast<uint32_t>(1 + seed % 4);
    options.handles = static_cast<uint32_t>(1 + seed % 3);
    const keydrome::history::History history = keydrome::random_history(seed, options);
    const std::string path = std::string(argv[1]) + "/" + std::to_string(seed);
    if (const auto written = keydrome::history::write_history(history, path); !written.ok()) {
      std::fprintf(stderr, "random_histories: %s\n", written.error().message.c_str());
      return 1;
    }
    std::printf("%lu %s\n", seed,
                keydrome::witness::name_of(keydrome::certify::certify(history).verdict));
  }
  return 0;
}
