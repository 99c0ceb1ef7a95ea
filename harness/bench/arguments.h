// Parses the command lines of the measuring programs in this folder: words, and an optional --json
// FILE into which a program writes its figures.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace keydrome {

struct BenchArguments {
  std::string json_path;           // empty: print to standard output only
  std::vector<std::string> words;  // all other arguments
};

// Returns an error if there is an unknown option, or if there are more than `words_max` words. The
// error names the first such argument. A program that ignored the argument would measure something
// other than the user wanted.
Result<BenchArguments> parse_bench_arguments(const std::vector<std::string>& arguments,
                                             std::size_t words_max);

// For main(): parses argv and checks that the file can be written, so that no long measurement is
// lost. After an error, prints the error and `usage` to standard error and exits with 2.
BenchArguments bench_arguments_or_exit(int count, char** arguments, std::size_t words_max,
                                       const char* usage);

// For main(): writes the figures to `json_path`, unless `json_path` is empty. Returns the program's
// exit code: 0, or 3 after a message if the file could not be written.
int write_figures(const std::string& json_path, const Json& figures);

}  // namespace keydrome
