// Canaries: extra transactions on the stream's own keys, whose results are not known but must agree
// with each other.
//
// - own write: insert a new pair, insert it again, delete it twice, insert it, read the key, abort.
// The codes are known,
//   the key must be found, and nobody may ever see that pair.
// - repeated scan: the same get and getNext calls twice in one transaction must give the same
// records as far as both
//   cover the same keys.
// - repeated probe: the same gets twice; what was missing stays missing (no phantom).
// The judge checks them with the ledger (ledger.h).
#pragma once

#include <cstdint>

#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"

namespace keydrome {

class Canaries {
 public:
  // With `reads_only` there is no own write: that one needs a transaction that changes and aborts.
  Canaries(ScriptBuilder& script, uint32_t class_number, bool reads_only = false)
      : script_(&script),
        class_(class_number),
        kinds_(reads_only ? 2 : 3),
        text_(script.add_text("canary")) {}

  // Appends open, one transaction on `index` and close; the kinds in turn by `turn`.
  // `pick_key()` gives the number of a key that the stream may use.
  template <typename PickKey>
  void append(ThreadBuilder& out, Rng& rng, uint32_t index, uint32_t turn, PickKey&& pick_key) {
    out.unit_start();
    out.open(0, index);
    out.begin(Kind::kCanary, class_);
    switch (kinds_ - 1 - turn % kinds_) {
      case 2:
        own_write(out, pick_key());
        out.abort();
        break;
      case 1: {
        // Drawn one after the other: arguments would be drawn in an order of the compiler's own.
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
  void own_write(ThreadBuilder& out, uint32_t key);
  static void repeated_scan(ThreadBuilder& out, uint32_t key, uint32_t length);
  static void repeated_probe(ThreadBuilder& out, const std::vector<uint32_t>& keys);

  ScriptBuilder* script_;
  uint32_t class_;
  uint32_t kinds_;
  uint32_t text_;
};

}  // namespace keydrome
