// Implements harness/bench/arguments.h: parses the command lines of the measuring programs. An
// unknown argument is an error.
#include "harness/bench/arguments.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/output_file.h"

namespace keydrome {

namespace {

Error unexpected(const std::string& argument, std::size_t words_max) {
  std::string allowed = "no argument is allowed: remove it";
  if (words_max == 1) allowed = "at most 1 argument is allowed: remove one";
  if (words_max > 1)
    allowed = "at most " + std::to_string(words_max) + " arguments are allowed: remove one";
  return Error{"unexpected argument \"" + argument + "\": besides --json FILE, " + allowed};
}

}  // namespace

Result<BenchArguments> parse_bench_arguments(const std::vector<std::string>& arguments,
                                             std::size_t words_max) {
  BenchArguments parsed;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string& argument = arguments[at];
    if (argument == "--json") {
      if (++at == arguments.size())
        return Error{"--json: the name of the file is missing; write it after --json"};
      parsed.json_path = arguments[at];
    } else if (argument.starts_with('-')) {
      return Error{"unknown option \"" + argument + "\": the only option is --json FILE"};
    } else if (parsed.words.size() == words_max) {
      return unexpected(argument, words_max);
    } else {
      parsed.words.push_back(argument);
    }
  }
  return parsed;
}

BenchArguments bench_arguments_or_exit(int count, char** arguments, std::size_t words_max,
                                       const char* usage) {
  Result<BenchArguments> parsed =
      parse_bench_arguments({arguments + 1, arguments + count}, words_max);
  Result<void> usable = parsed ? Result<void>() : parsed.error();
  if (usable && !parsed->json_path.empty()) usable = check_writable(parsed->json_path);
  if (usable) return std::move(*parsed);
  std::fprintf(stderr, "%s: %s\nusage: %s\n", arguments[0], usable.error().message.c_str(), usage);
  std::exit(2);
}

int write_figures(const std::string& json_path, const Json& figures) {
  if (json_path.empty()) return 0;
  const Result<void> written = write_file(json_path, figures.dump(2) + "\n");
  if (written) return 0;
  std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return 3;
}

}  // namespace keydrome
