// How a jail ended, from its own meta lines (docs/reference/jail.md).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keydrome {

// How the jail ended. `meta` holds its key:value lines.
struct JailEnd {
  bool exited = false;  // false: it had to be killed
  int exit_code = -1;
  std::map<std::string, std::string, std::less<>> meta;

  std::string_view text(std::string_view key) const;
  std::optional<int64_t> number(std::string_view key) const;
  std::vector<std::string> words(std::string_view key) const;
};

// Parses `key:value` lines; a value may be empty or hold further colons.
std::map<std::string, std::string, std::less<>> parse_meta(std::string_view text);

}  // namespace keydrome
