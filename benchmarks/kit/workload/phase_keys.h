// PhaseKeys: knows which keys one phase of a script (the operations of a session) changes, and
// which threads change them. A read of a key has one right result in two cases: no thread changes
// the key in the phase (a fixed key), or only the reading thread changes it (an own key).
//
// The classes err on the safe side: they may report a fixed or own key as one that several threads
// change, but never the reverse. Thread safety: immutable after construction.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.h"
#include "benchmarks/kit/format/program.h"
#include "benchmarks/kit/script/script.h"
#include "benchmarks/kit/script/script_builder.h"

namespace keydrome::workload {

// Follows the ops (operations) of a thread's program one by one. Knows which handles and which
// transaction are open at the current op.
class OpFollower {
 public:
  explicit OpFollower(std::span<const format::Op> ops) : ops_(ops) {}

  // Must be called once for each op, in order.
  void follow(uint64_t at);

  // Returns the index of the handle in a slot. A slot is a numbered variable for one open handle.
  uint32_t index(uint8_t slot) const { return opened_[slot] - 1; }
  bool is_open(uint8_t slot) const { return opened_[slot] != 0; }
  bool in_transaction() const { return in_transaction_; }
  // Returns true if the open transaction ends with an abort, so that no other transaction sees its
  // writes.
  bool aborts() const { return aborts_; }
  // Returns true if the op belongs to the workload itself, not to a check.
  bool is_stream() const { return kind_ == format::Kind::kStream; }

 private:
  std::span<const format::Op> ops_;
  std::array<uint32_t, format::kSlots> opened_{};  // index + 1; 0: closed
  bool in_transaction_ = false, aborts_ = false;
  format::Kind kind_ = format::Kind::kScript;
};

// What one thread does in a phase.
struct ThreadWork {
  uint64_t calls = 0;     // calls to the library; with procedures (kRun ops), an upper bound
  uint64_t reads = 0;     // gets and getNexts, without those of procedures
  uint64_t last_end = 0;  // the last op that ends a transaction
};

// Returns how many calls an op makes. For a scan to the end, this is the largest number of records,
// and for a procedure the largest number of its calls.
uint64_t calls_of(const format::Op& op, const script::Pools& pools);
// Returns how many calls of the op are reads whose arguments the program gives.
uint64_t reads_of(const format::Op& op);

// Returns for each index whether procedures change its records anywhere in the script. A procedure
// is a list of instructions that computes keys from earlier results, so which records it changes is
// known only at run time.
std::vector<bool> computed_indexes(const script::Pools& pools,
                                   std::span<const script::PhaseScript> phases, uint32_t indexes);

class PhaseKeys {
 public:
  // `computed` comes from computed_indexes().
  PhaseKeys(const script::ScriptBuilder& script, uint32_t phase, const std::vector<bool>& computed);

  // writes() returns true if the workload itself inserts or deletes records in the phase, and
  // inserts() returns true if it inserts records.
  bool writes() const { return writes_; }
  bool inserts() const { return inserts_; }
  const std::vector<ThreadWork>& threads() const { return threads_; }
  uint64_t calls() const;  // calls of all threads

  bool is_fixed(uint32_t index, uint32_t key) const {
    return is_known(index, key) && writer_[place(index, key)] == kNobody;
  }
  bool is_own(uint32_t index, uint32_t key, uint32_t thread) const {
    const uint8_t writer = writer_of(thread);
    return writer != kMany && is_known(index, key) && writer_[place(index, key)] == writer;
  }

 private:
  static constexpr uint8_t kNobody = 0, kMany = UINT8_MAX;

  void add_thread(const std::vector<format::Op>& ops, uint32_t thread);
  void note_procedure(const format::Op& op);
  // Returns true if ops of the programs make all changes of the key, and no procedure makes any.
  bool is_known(uint32_t index, uint32_t key) const {
    return !computed_[index] || script_.pools().is_kept(script_.type(index), key);
  }
  // Returns the table's value for a key that only this thread changes. The values of a byte suffice
  // for the first 254 threads. Keys of later threads count as keys that several threads change.
  static constexpr uint8_t writer_of(uint32_t thread) {
    return thread + 1 < kMany ? static_cast<uint8_t>(thread + 1) : kMany;
  }
  uint64_t place(uint32_t index, uint32_t key) const {
    return hash_mix(index, key) & (writer_.size() - 1);
  }

  const script::ScriptBuilder& script_;
  std::vector<bool> computed_;
  // By the hash of index and key: writer_of(thread) if only this thread changes keys with this
  // hash, and otherwise kNobody or kMany. Different keys can share an entry.
  std::vector<uint8_t> writer_;
  std::vector<ThreadWork> threads_;
  bool writes_ = false, inserts_ = false;
};

}  // namespace keydrome::workload
