// Canaries: extra transactions in the programs of a benchmark. They test isolation on the keys of
// the workload itself. The values of these keys cannot be predicted, but the results inside one
// canary must agree with each other.
//
//   - Own write: inserts a new pair, inserts it again, deletes it twice, inserts it again, reads
//     the key, and aborts. The result codes are known in advance, and the key must be found. No
//     other transaction may ever see the pair.
//   - Repeated scan: makes the same get and getNext calls twice in one transaction. For the keys
//     that both scans cover, both must return the same records.
//   - Repeated probe: makes the same gets twice in one transaction. A key that the first get did
//     not find must still be missing at the second get. A key that appears in between is a phantom.
//
// The judge, which runs after the programs, checks these rules (judge/expected_state.h).
//
// Not thread-safe.
#pragma once

#include <cstdint>

#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome::workload {

class Canaries {
 public:
  // `class_number` is the transaction class of canaries. `reads_only` leaves out the own write, for
  // workloads in which no transaction may write and abort.
  Canaries(script::ScriptBuilder& script, uint32_t class_number, bool reads_only = false)
      : script_(&script),
        class_(class_number),
        kinds_(reads_only ? 2 : 3),
        text_(script.add_text("canary")) {}

  // Appends an openIndex, one transaction on `index` and a closeIndex. The kind of canary follows
  // from `turn`, which the caller increases by 1 each time. `pick_key()` returns the number of a
  // key that the workload may use.
  template <typename PickKey>
  void append(script::ThreadBuilder& out, Rng& rng, uint32_t index, uint32_t turn,
              PickKey&& pick_key) {
    out.unit_start();
    out.open(0, index);
    out.begin(format::Kind::kCanary, class_);
    switch (kinds_ - 1 - turn % kinds_) {
      case 2:
        own_write(out, pick_key());
        out.abort();
        break;
      case 1: {
        // Two statements, because C++ does not specify in which order the arguments of a call are
        // evaluated.
        const auto length = static_cast<uint32_t>(rng.between(8, 24));
        repeated_scan(out, pick_key(), length);
        out.commit();
        break;
      }
      default:
        repeated_probe(out, {pick_key(), pick_key(), pick_key(), pick_key()});
        out.commit();
    }
    out.close(0);
  }

 private:
  void own_write(script::ThreadBuilder& out, uint32_t key);
  static void repeated_scan(script::ThreadBuilder& out, uint32_t key, uint32_t length);
  static void repeated_probe(script::ThreadBuilder& out, const std::vector<uint32_t>& keys);

  script::ScriptBuilder* script_;
  uint32_t class_;
  uint32_t kinds_;
  uint32_t text_;
};

}  // namespace keydrome::workload
