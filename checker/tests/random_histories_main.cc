// random_histories DIR FIRST COUNT: writes COUNT small random histories into DIR, one file for each
// seed from FIRST on, and prints "SEED VERDICT" as certify() judges them.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "checker/certify.h"
#include "checker/history_file.h"
#include "checker/report.h"
#include "checker/tests/random_history.h"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const uint64_t first = std::strtoull(argv[2], nullptr, 10);
  const uint64_t count = std::strtoull(argv[3], nullptr, 10);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    keydrome::RandomHistoryOptions options;
    options.transactions = static_cast<uint32_t>(2 + seed % 4);
    options.keys = static_cast<uint32_t>(1 + seed % 4);
    const keydrome::History history = keydrome::random_history(seed, options);
    const std::string path = std::string(argv[1]) + "/" + std::to_string(seed);
    if (!keydrome::write_history(history, path).ok()) return 1;
    std::printf("%lu %s\n", seed, keydrome::name_of(keydrome::certify(history).verdict));
  }
  return 0;
}
