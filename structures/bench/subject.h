// Subject: what structure_bench compares, with the loops that it times. A subject is a structure of
// contract B or a container from a package (a peer).
//
// The loops are inside the implementations, so that the compiler can inline a peer's code, as it
// would in a program that uses the peer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "structures/bench/keys.h"

namespace keydrome::bench {

struct Abilities {
  bool peer = false;
  bool ordered = false;       // has scans
  bool batch = false;         // has find_batch
  bool shared_reads = false;  // several threads may look up
  bool updates = false;       // can replace a payload
  bool thread_safe = false;   // several threads may look up and update
};

// Updates change the highest bit of a payload. Sums of payloads leave it out.
inline constexpr uint64_t kUpdateBit = uint64_t{1} << 63;

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

  // These functions return a sum of payloads, so that a wrong answer is noticed.
  // Looks up each key. The processor may run several lookups at the same time.
  virtual uint64_t look_up(const Queries& queries) = 0;
  // Looks up each key. The address of a key depends on the payload that was found before, so no two
  // lookups overlap. `zero` is 0, which the compiler does not know.
  virtual uint64_t chain(const Queries& queries, uint64_t zero) = 0;
  virtual uint64_t batch(const Queries& queries) = 0;
  // Reads `length` pairs from each key on.
  virtual uint64_t scan(const Queries& queries, uint32_t length) = 0;
  // Looks up every second key, and updates the payloads of the others.
  virtual uint64_t mixed(const Queries& queries) = 0;

  // Called before and after several threads call look_up or mixed.
  virtual void begin_threads() {}
  virtual void end_threads() {}
};

// Return a subject for integer keys or for strings, or a null pointer if the build has no such
// package.
std::unique_ptr<Subject> make_absl_btree(bool integers);
std::unique_ptr<Subject> make_std_map(bool integers);
std::unique_ptr<Subject> make_tbb_hash(bool integers);

}  // namespace keydrome::bench
