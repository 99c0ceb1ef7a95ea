// Subject: one of the things that the program structure_bench compares. It is a structure, i.e. a
// data structure with the interface of contract B (keydrome/structure.h), or a container from a
// package (a peer). The class also contains the timed loops.
//
// The loops are inside the implementations, so that the compiler can inline a peer's code, as it
// would in a program that uses the peer.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "structures/bench/keys.h"

namespace keydrome::bench {

struct Abilities {
  bool peer = false;
  bool ordered = false;       // the subject has scans
  bool batch = false;         // the subject has find_batch
  bool shared_reads = false;  // several threads may look up at the same time
  bool updates = false;       // the subject can replace a payload
  bool thread_safe = false;   // several threads may look up and update at the same time
};

// Updates change the highest bit of a payload, so sums of payloads leave this bit out.
inline constexpr uint64_t kUpdateBit = uint64_t{1} << 63;

// Ends the program, because a subject has returned a wrong result. `what` is a sentence about it
// without a full stop.
[[noreturn, gnu::cold]] inline void stop_at_wrong_result(const std::string& subject,
                                                         const char* what) {
  std::fprintf(stderr,
               "structure_bench: %s is wrong: %s. To find the fault of a structure, run "
               "structure_contract_test --library FILE.\n",
               subject.c_str(), what);
  std::exit(1);
}

class Subject {
 public:
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;

  virtual std::string name() const = 0;
  virtual Abilities abilities() const = 0;

  // Inserts the keys into the empty subject. The payload of key i is i.
  virtual void load(const Keys& keys) = 0;
  // Makes the subject empty, and frees its memory.
  virtual void clear() = 0;

  // The five functions below are the timed loops. Each returns the sum of the payloads that it has
  // found, so that the caller notices wrong results.

  // Looks up each key. The processor may run several lookups at the same time.
  virtual uint64_t look_up(const Queries& queries) = 0;
  // Looks up each key. The address of a key depends on the payload found before, so no two lookups
  // overlap. `zero` is 0, but the compiler cannot know it.
  virtual uint64_t chain(const Queries& queries, uint64_t zero) = 0;
  // Looks up all keys by calls of find_batch.
  virtual uint64_t batch(const Queries& queries) = 0;
  // Scans `length` pairs from each key on.
  virtual uint64_t scan(const Queries& queries, uint32_t length) = 0;
  // Looks up each key, and updates the payload of every second key.
  virtual uint64_t mixed(const Queries& queries) = 0;

  // Called before and after several threads call look_up or mixed.
  virtual void begin_threads() {}
  virtual void end_threads() {}
};

// These functions return a subject for integer keys or for strings. They return a null pointer if
// the build has not found the package.
std::unique_ptr<Subject> make_absl_btree(bool integers);
std::unique_ptr<Subject> make_std_map(bool integers);
std::unique_ptr<Subject> make_tbb_hash(bool integers);

}  // namespace keydrome::bench
