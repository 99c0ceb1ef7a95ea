// The program contract_test --library PATH [--configure JSON] [--seed N] [--gtest_...] checks
// whether a library keeps the promises of contract A (api/include/keydrome/index.h). This contract
// specifies the ten calls of an index library.
//
// Suites named Required test promises whose violation fails a library. Suites named Advisory test
// promises whose violation is only shown as a warning. --gtest_filter=-Advisory* leaves them out.
//
// Exit codes:
// 0: all tests passed
// 1: a test failed
// 2: the arguments are wrong, or the library cannot be loaded
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "indexes/tests/library.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::string path;
  std::string configuration;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (value != nullptr && option == "--library") {
      path = value;
    } else if (value != nullptr && option == "--configure") {
      configuration = value;
    } else if (value != nullptr && option == "--seed") {
      keydrome::set_test_seed(std::strtoull(value, nullptr, 10));
    } else {
      std::fprintf(stderr,
                   "contract_test: %s: this option is unknown, or its value is missing: "
                   "give --library PATH, --configure JSON, --seed N or an option of gtest\n",
                   argv[i]);
      return 2;
    }
  }
  if (path.empty()) {
    std::fprintf(stderr,
                 "contract_test: the option --library is missing: start it as contract_test "
                 "--library PATH [--configure JSON] [--seed N]\n");
    return 2;
  }
  if (!keydrome::load_library(path, configuration)) return 2;
  return RUN_ALL_TESTS();
}
