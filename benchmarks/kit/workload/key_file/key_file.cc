// Implements key_file.h: reads a whole file, checks it from front to back, sorts its keys, and
// looks for duplicates.
#include "benchmarks/kit/workload/key_file/key_file.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/count_text.h"
#include "benchmarks/kit/workload/files/input_file.h"
#include "benchmarks/kit/workload/key_file/segments.h"

namespace keydrome::workload {
namespace {

constexpr uint64_t kWord = sizeof(uint64_t);
constexpr uint64_t kSignBit = uint64_t{1} << 63;
constexpr uint64_t kLeftForChecks = uint64_t{1} << 20;
// An upper bound of the memory for a text file, in bytes per byte of the file: the text itself, and
// a string_view of each line. The keys must be different, so in a large file the lines have at
// least 4 bytes on average.
constexpr uint64_t kTextFactor = 1 + sizeof(std::string_view) / 4;

Error at_byte(const std::string& path, uint64_t byte, const std::string& what) {
  return Error{path + ", byte " + std::to_string(byte) + ": " + what};
}

Result<InputFile> open_file(const std::string& path) {
  Result<InputFile> file = InputFile::open(path, "key file");
  if (!file || file->bytes() > 0) return file;
  return Error{path + ": is empty, but a key file has at least one key: give another key file"};
}

// Reads the rest of the file, which must have exactly `bytes` bytes.
Result<void> read_rest(const InputFile& file, char* to, uint64_t bytes) {
  const Result<uint64_t> got = file.read(to, bytes);
  if (!got) return got.error();
  char more = 0;
  const Result<uint64_t> beyond = file.read(&more, 1);
  if (!beyond) return beyond.error();
  if (*got == bytes && *beyond == 0) return {};
  return Error{file.path() + ": changed while it was read: start again when the file is complete"};
}

uint64_t little_endian(const char* bytes) {
  uint64_t number = 0;
  for (uint64_t i = kWord; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

Result<void> check_count(const std::string& path, uint64_t count, uint64_t bytes) {
  const uint64_t rest = bytes - kWord;
  if (count == 0)
    return at_byte(path, 0,
                   "the first 8 bytes give the count 0, but a key file has at least one key: give "
                   "another key file");
  if (rest % kWord == 0 && count == rest / kWord) return {};
  const std::string counted = count_text(count, "key");
  if (count == rest / 4 && rest % 4 == 0) {
    return at_byte(path, kWord,
                   "the keys have 32 bits each, but must have 64 bits: write each key as 8 bytes, "
                   "little-endian");
  }
  if (count > rest / kWord) {
    return at_byte(
        path, bytes,
        "the file ends here, but its first 8 bytes give the count " + std::to_string(count) +
            ", and each key needs 8 bytes: give a complete file or, if the file is text, "
            "remove the zero byte at its beginning");
  }
  return at_byte(path, kWord + count * kWord,
                 "the file continues here, but its first 8 bytes say that it ends after " +
                     counted + ": correct this count, or remove the rest of the file");
}

// Returns the places of the first two keys that are equal to `key`, in the order of the file.
std::pair<std::size_t, std::size_t> places_of(const std::vector<int64_t>& keys, int64_t key) {
  const auto first = std::find(keys.begin(), keys.end(), key);
  const auto second = std::find(first + 1, keys.end(), key);
  return {first - keys.begin(), second - keys.begin()};
}

std::string unsigned_text(int64_t key, bool shifted) {
  return std::to_string(static_cast<uint64_t>(key) ^ (shifted ? kSignBit : 0));
}

// Subtracts 2^63 from all keys if one of them is too large for a signed integer.
Result<void> make_signed(const std::string& path, KeyFile& keys) {
  keys.shifted = std::ranges::any_of(keys.integers, [](int64_t key) { return key < 0; });
  if (!keys.shifted) return {};
  for (int64_t& key : keys.integers) {
    key = static_cast<int64_t>(static_cast<uint64_t>(key) ^ kSignBit);
  }
  const auto least = std::min_element(keys.integers.begin(), keys.integers.end());
  if (static_cast<uint64_t>(*least) - kSignBit >= kLeftForChecks) return {};
  return at_byte(path, kWord + static_cast<uint64_t>(least - keys.integers.begin()) * kWord,
                 "the key is " + unsigned_text(*least, true) +
                     ", but in a file with keys of 2^63 or more, keys below " +
                     std::to_string(kLeftForChecks) +
                     " are reserved for Keydrome's own checks: leave the key out");
}

Result<void> sort_integers(const std::string& path, KeyFile& keys) {
  const auto not_less = [](int64_t a, int64_t b) { return a >= b; };
  std::vector<int64_t>& all = keys.integers;
  if (std::adjacent_find(all.begin(), all.end(), not_less) == all.end()) return {};
  std::vector<int64_t> sorted = all;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    const auto [first, second] = places_of(all, *twice);
    return at_byte(path, kWord + second * kWord,
                   "the key " + unsigned_text(*twice, keys.shifted) + " is also at byte " +
                       std::to_string(kWord + first * kWord) + ": leave one of them out");
  }
  all = std::move(sorted);
  return {};
}

Result<KeyFile> read_binary(const std::string& path, const InputFile& file, const char* head) {
  const uint64_t count = little_endian(head);
  if (const Result<void> fits = check_count(path, count, file.bytes()); !fits) return fits.error();
  KeyFile keys;
  keys.integers.resize(count);
  char* const raw = reinterpret_cast<char*>(keys.integers.data());
  if (const Result<void> whole = read_rest(file, raw, count * kWord); !whole) {
    return whole.error();
  }
  for (uint64_t i = 0; i < count; ++i) {
    keys.integers[i] = static_cast<int64_t>(little_endian(raw + i * kWord));
  }
  if (const Result<void> fits = make_signed(path, keys); !fits) return fits.error();
  if (const Result<void> sorted = sort_integers(path, keys); !sorted) return sorted.error();
  return keys;
}

// Returns what is wrong with a line, and the column where it is wrong.
std::optional<std::pair<uint64_t, std::string>> fault_of(std::string_view line) {
  if (line.empty()) return std::pair(uint64_t{1}, "the line is empty: leave it out");
  if (const std::size_t zero = line.find('\0'); zero != std::string_view::npos) {
    return std::pair(zero + 1,
                     "the key contains a zero byte, which ends a string in C: remove this byte");
  }
  if (line.size() > MAX_VARCHAR_LEN) {
    return std::pair(uint64_t{MAX_VARCHAR_LEN + 1}, "the key has " + std::to_string(line.size()) +
                                                        " bytes, but keys have at most " +
                                                        std::to_string(MAX_VARCHAR_LEN) +
                                                        ": shorten it, or leave it out");
  }
  if (line.front() == kFirstByteOfChecks) {
    return std::pair(uint64_t{1},
                     "the key begins with byte 1, which is reserved for keys of Keydrome's own "
                     "checks: leave the key out");
  }
  return std::nullopt;
}

// Splits the text into lines. A carriage return at the end of a line is not part of the key.
Result<void> split_lines(const std::string& path, KeyFile& keys) {
  std::string_view rest(keys.text.data(), keys.text.size());
  keys.strings.reserve(static_cast<std::size_t>(std::count(rest.begin(), rest.end(), '\n')) + 1);
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (const auto fault = fault_of(line)) {
      return at_line(path, keys.strings.size() + 1, fault->first, fault->second);
    }
    keys.strings.push_back(line);
    keys.longest_bytes = std::max(keys.longest_bytes, line.size());
  }
  return {};
}

// Returns the number of the line that contains this part of the text.
uint64_t line_of(const KeyFile& keys, std::string_view part) {
  return 1 + static_cast<uint64_t>(std::count(keys.text.data(), part.data(), '\n'));
}

Result<void> sort_strings(const std::string& path, KeyFile& keys) {
  std::vector<std::string_view>& all = keys.strings;
  const auto is_before = [](std::string_view a, std::string_view b) {
    const int order = a.compare(b);
    return order != 0 ? order < 0 : a.data() < b.data();
  };
  std::sort(all.begin(), all.end(), is_before);
  const auto twice = std::adjacent_find(all.begin(), all.end());
  if (twice == all.end()) return {};
  return at_line(path, line_of(keys, *std::next(twice)), 1,
                 "the key is also in line " + std::to_string(line_of(keys, *twice)) +
                     ": leave one of them out");
}

Result<KeyFile> read_text(const std::string& path, const InputFile& file, std::string_view head) {
  KeyFile keys;
  keys.type = VARCHAR;
  keys.text.resize(file.bytes());
  std::copy(head.begin(), head.end(), keys.text.begin());
  if (const Result<void> whole =
          read_rest(file, keys.text.data() + head.size(), file.bytes() - head.size());
      !whole) {
    return whole.error();
  }
  if (const Result<void> fine = split_lines(path, keys); !fine) return fine.error();
  if (const Result<void> sorted = sort_strings(path, keys); !sorted) return sorted.error();
  return keys;
}

std::size_t shared_bytes(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

uint64_t KeyFile::bytes() const {
  return integers.size() * kWord + text.size() + strings.size() * sizeof(std::string_view);
}

Result<uint64_t> key_file_bytes(const std::string& path) {
  const Result<InputFile> file = open_file(path);
  if (!file) return file.error();
  return file->bytes() * kTextFactor;
}

Result<KeyFile> read_key_file(const std::string& path) {
  const Result<InputFile> file = open_file(path);
  if (!file) return file.error();
  std::array<char, kWord> head{};
  const uint64_t wanted = std::min<uint64_t>(kWord, file->bytes());
  const Result<uint64_t> got = file->read(head.data(), wanted);
  if (!got) return got.error();
  const std::string_view start(head.data(), *got);
  if (start.find('\0') == std::string_view::npos) return read_text(path, *file, start);
  if (start.size() < kWord) {
    return at_byte(
        path, start.size(),
        "the file ends here, but a binary key file begins with 8 bytes that give the number of its "
        "keys: give a complete file or, if the file is text, remove the zero byte from it");
  }
  return read_binary(path, *file, head.data());
}

KeyFacts facts_of(const KeyFile& keys) {
  const auto count = static_cast<double>(keys.size());
  KeyFacts facts;
  if (keys.type == INT) {
    const double scale = 1e6 / count;
    facts.local_hardness = static_cast<double>(segments(keys.integers, kLocalEpsilon)) * scale;
    facts.global_hardness = static_cast<double>(segments(keys.integers, kGlobalEpsilon)) * scale;
    return facts;
  }
  std::string_view before;
  double shared = 0, bytes = 0;
  for (const std::string_view key : keys.strings) {
    shared += static_cast<double>(shared_bytes(before, key));
    bytes += static_cast<double>(key.size());
    before = key;
  }
  facts.mean_bytes = bytes / count;
  facts.mean_shared_bytes = shared / count;
  return facts;
}

}  // namespace keydrome::workload
