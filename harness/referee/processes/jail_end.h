// JailEnd: how a jail (the sandbox of the library) ended. The jail program reports this in its meta
// lines: lines "key:value" on a pipe (docs/reference/jail.md).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keydrome {

struct JailEnd {
  // False: the jail was killed, by the referee (the process that started it) or by another process.
  bool exited = false;
  bool killed_by_referee = false;  // the jail did not end in time
  int exit_code = -1;              // of the jail program, not of the program that ran in the jail
  std::map<std::string, std::string, std::less<>> meta;  // values by key

  // Returns the value of the key, or "" if the key is missing.
  std::string_view text(std::string_view key) const;
  // Returns the value as a number, or nothing if the key is missing or the value is not a number.
  std::optional<int64_t> number(std::string_view key) const;
  // Returns the parts of a value. Commas or blanks separate the parts.
  std::vector<std::string> words(std::string_view key) const;
};

// Parses lines "key:value". A value may be empty and may contain colons. Lines without a colon are
// ignored.
std::map<std::string, std::string, std::less<>> parse_meta(std::string_view text);

}  // namespace keydrome
