// Bodies: functions that write the calls of one transaction of the benchmark "isolation", in which
// many threads work on a few keys to reveal isolation errors.
//
// A body writes the calls between begin and commit. It takes all its choices from the given Rng, so
// equal seeds give equal programs. Each body makes one kind of error likely (README.md). Not
// thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome::isolation {

// The keys of one index in a round, which is one phase on empty indexes. `keys` contains their
// numbers in the script's list of keys (pool), in ascending order of the keys. All transactions of
// the round choose from these keys, so the transactions conflict.
struct KeySpace {
  uint8_t slot = 0;
  std::vector<uint32_t> keys;
};

// Appends the calls of a body. One object serves one thread in one round.
class BodyWriter {
 public:
  BodyWriter(script::ScriptBuilder& script, script::ThreadBuilder& out,
             std::span<const KeySpace> key_spaces, std::span<const uint32_t> texts,
             workload::Rng& rng)
      : script_(&script), out_(&out), key_spaces_(key_spaces), texts_(texts), rng_(&rng) {}

  workload::Rng& rng() { return *rng_; }
  bool chance(uint32_t one_in) { return rng_->below(one_in) == 0; }

  std::size_t key_spaces() const { return key_spaces_.size(); }
  const KeySpace& any_key_space() { return key_spaces_[rng_->below(key_spaces_.size())]; }
  const KeySpace& key_space(std::size_t number) const { return key_spaces_[number]; }
  // Returns a random key. Small keys are more likely than large ones, so that some keys are hot.
  uint32_t any_key(const KeySpace& space);
  // Returns a random key from positions [low, high) of the key order.
  uint32_t key_between(const KeySpace& space, std::size_t low, std::size_t high);

  void get(const KeySpace& space, uint32_t key);
  void next(const KeySpace& space, uint32_t calls);
  void insert(const KeySpace& space, uint32_t key);
  void erase_read(const KeySpace& space);
  void erase_key(const KeySpace& space, uint32_t key);

 private:
  void pause();

  script::ScriptBuilder* script_;
  script::ThreadBuilder* out_;
  std::span<const KeySpace> key_spaces_;
  std::span<const uint32_t> texts_;
  workload::Rng* rng_;
};

// Every library must support transactions with this many changes.
inline constexpr uint32_t kChangesMax = 10'000;

// A kind of round: the body that writes its transactions, and the indexes and keys that they share.
struct RoundKind {
  std::string_view name;
  // Writes a transaction of about `operations` calls. With `read_only` the transaction changes
  // nothing.
  void (*body)(BodyWriter& out, uint32_t operations, bool read_only);
  uint32_t indexes;
  uint32_t keys;     // keys of each index
  uint32_t calls;    // average calls of a transaction
  uint32_t percent;  // transactions of each thread, in percent of the parameter `transactions`
  // Maximum number of changes of the transactions that fill and empty the indexes.
  uint32_t changes = 50;
};

// Returns all kinds, in the order in which rounds use them.
std::span<const RoundKind> round_kinds();

}  // namespace keydrome::isolation
