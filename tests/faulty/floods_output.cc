// A correct library for tests that writes 32 MiB each to stdout and stderr. It must pass: the
// referee, the process that judges, must keep only part of the output, and the writes must never
// block.
#include <unistd.h>

#include <array>
#include <atomic>

#include "tests/faulty/honest.h"

namespace {

void flood(int descriptor) {
  static const std::array<char, 65536> kBlock = [] {
    std::array<char, 65536> block{};
    block.fill('#');
    return block;
  }();
  for (int i = 0; i < 512; ++i) {
    if (write(descriptor, kBlock.data(), kBlock.size()) < 0) return;
  }
}

}  // namespace

extern "C" ErrCode create(KeyType type, char* name) {
  static std::atomic<bool> flooded{false};
  if (!flooded.exchange(true)) {
    flood(STDOUT_FILENO);
    flood(STDERR_FILENO);
  }
  return honest::create(type, name);
}
