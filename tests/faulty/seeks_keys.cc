// A hostile library for tests: it looks for the keys of coming operations in the memory of its
// process, in create and at the first insert. It prints how many keys it has found. The test marks
// the keys with kMark in their upper 16 bits. All calls to the library work correctly.
//
// The player, the program that calls the library, receives its operations in pieces
// (harness/ring.h). Therefore the library must find no key in create. At the first insert it may
// find only the keys of the pieces that have arrived.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "tests/faulty/honest.h"

namespace {

constexpr uint64_t kMark = 0x5eec, kMarkShift = 48;
constexpr uintptr_t kPageBytes = 4096;
// The kernel places the mappings of a process next to each other, so those of the player are not
// far from the code of this library.
constexpr uintptr_t kDistance = uintptr_t{256} << 20;

// Returns true if the page can be read. The kernel reads the set of signals before it looks at the
// invalid first argument.
bool is_readable(uintptr_t page) {
  constexpr int kNoSuchHow = 77;
  errno = 0;
  syscall(SYS_rt_sigprocmask, kNoSuchHow, page, nullptr, sizeof(uint64_t));
  return errno != EFAULT;
}

// Counts the marked words of a readable page. The page may belong to any other code of the process,
// so the address sanitizer must not check these reads.
[[gnu::no_sanitize("address")]] unsigned marked_words(uintptr_t page) {
  unsigned count = 0;
  const auto* words = reinterpret_cast<const volatile uint64_t*>(page);
  for (uintptr_t i = 0; i < kPageBytes / sizeof(uint64_t); ++i) {
    const uint64_t word = words[i];
    if (word >> kMarkShift == kMark) ++count;
  }
  return count;
}

void seek(const char* when) {
  const uintptr_t here = reinterpret_cast<uintptr_t>(&is_readable) & ~(kPageBytes - 1);
  unsigned found = 0;
  for (uintptr_t page = here - kDistance; page < here + kDistance; page += kPageBytes) {
    if (is_readable(page)) found += marked_words(page);
  }
  std::printf("%s: %u\n", when, found);
  std::fflush(stdout);
}

}  // namespace

extern "C" ErrCode create(KeyType type, char* name) {
  seek("create");
  return honest::create(type, name);
}

extern "C" ErrCode insertRecord(IdxState* index, TxnState* transaction, Key* key,
                                const char* payload) {
  static bool sought = false;
  if (!sought) seek("insert");
  sought = true;
  return honest::insertRecord(index, transaction, key, payload);
}
