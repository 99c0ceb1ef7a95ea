// Implements harness/referee/processes/jail_end.h: parses the meta lines in which a jail, the
// sandbox of the library, reports how it ended.
#include "harness/referee/processes/jail_end.h"

#include <charconv>
#include <sstream>

namespace keydrome {

std::map<std::string, std::string, std::less<>> parse_meta(std::string_view text) {
  std::map<std::string, std::string, std::less<>> meta;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (colon != std::string::npos) meta[line.substr(0, colon)] = line.substr(colon + 1);
  }
  return meta;
}

std::string_view JailEnd::text(std::string_view key) const {
  const auto found = meta.find(key);
  return found == meta.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<int64_t> JailEnd::number(std::string_view key) const {
  const std::string_view digits = text(key);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return value;
}

std::vector<std::string> JailEnd::words(std::string_view key) const {
  std::vector<std::string> words;
  std::string list{text(key)};
  for (char& byte : list) {
    if (byte == ',') byte = ' ';
  }
  std::istringstream stream(list);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace keydrome
