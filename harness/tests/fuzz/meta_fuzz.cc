// Fuzz target for the parser of meta lines, in which a jail (sandbox) reports how it ended. Checks
// that every parsed part occurs in the input, and that no exception is thrown.
#include <cstdint>
#include <cstdlib>

#include "harness/referee/processes/jail_end.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keydrome;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  JailEnd end;
  end.meta = parse_meta(text);
  for (const auto& [key, value] : end.meta) {
    const bool is_one_line = (key + value).find('\n') == std::string::npos;
    const bool was_there = text.find(key + ":" + value) != std::string_view::npos;
    if (!is_one_line || !was_there || key.find(':') != std::string::npos) std::abort();
    const std::optional<int64_t> number = end.number(key);
    if (number && value.find_first_not_of("-0123456789") != std::string::npos) std::abort();
    for (const std::string& word : end.words(key)) {
      if (word.empty() || word.find(',') != std::string::npos) std::abort();
    }
  }
  if (!end.text("no such key").empty() && end.meta.count("no such key") == 0) std::abort();
  return 0;
}
