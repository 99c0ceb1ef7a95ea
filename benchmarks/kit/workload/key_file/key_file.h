// KeyFile: the keys of a file of the user, with which a session replaces the keys of a workload.
//
// A file has one of two formats (docs/reference/key-files.md). If one of its first eight bytes is
// zero, it is binary, in the format of SOSD (A. Kipf et al., 2019): the number of keys, then the
// keys, all as 64-bit unsigned integers, little endian. Otherwise it is text, with one key in each
// line.
//
// The content is untrusted. Every file gives a KeyFile or an error with the place of the fault.
// Only the referee, the program that runs a session, and its command `keys` read such files,
// outside timed phases. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "keydrome/index.h"

namespace keydrome::workload {

// A string key of a file must not begin with this byte. Checks, the extra transactions that test
// the library, use keys that are smaller than all keys of the file. If the usual keys of checks are
// not smaller, this byte replaces their first byte.
inline constexpr char kFirstByteOfChecks = 1;

// Not copyable, because `strings` points into `text`.
struct KeyFile {
  KeyFile() = default;
  KeyFile(KeyFile&&) = default;
  KeyFile& operator=(KeyFile&&) = default;

  KeyType type = INT;                     // INT or VARCHAR
  std::vector<int64_t> integers;          // ascending and different
  bool shifted = false;                   // true: 2^63 was subtracted from all integers
  std::vector<std::string_view> strings;  // ascending and different
  std::vector<char> text;
  std::size_t longest_bytes = 0;  // of the strings

  std::size_t size() const { return type == INT ? integers.size() : strings.size(); }
  // Returns how much memory the keys take, in bytes.
  uint64_t bytes() const;
};

// Returns an upper bound of the memory that read_key_file() needs, from the size of the file.
// Returns an error if the path is not a regular file that can be read.
Result<uint64_t> key_file_bytes(const std::string& path);

// Reads and checks a file. Integer keys of the index API are signed, and those of a file are not.
// If a key of the file is 2^63 or more, 2^63 is subtracted from all keys, which keeps their order
// and distances. The smallest 2^20 integers are then left for checks, and a key among them is an
// error.
Result<KeyFile> read_key_file(const std::string& path);

// How hard keys are for an index.
struct KeyFacts {
  // For integers: how many line segments per million keys predict the rank of every key (its
  // position in key order). The error is at most 32 for the local hardness, and at most 4,096 for
  // the global hardness (segments.h).
  double local_hardness = 0, global_hardness = 0;
  // For strings: the mean length, and the mean number of first bytes that a key shares with the key
  // before it.
  double mean_bytes = 0, mean_shared_bytes = 0;
};
KeyFacts facts_of(const KeyFile& keys);

}  // namespace keydrome::workload
