// Implements Canaries: the calls of each kind of canary, an extra transaction that checks
// isolation.
#include "benchmarks/kit/workload/canaries.h"

namespace keydrome::workload {
namespace {

constexpr uint8_t kCanarySlot = 0;

}  // namespace

void Canaries::own_write(script::ThreadBuilder& out, uint32_t key) {
  const script::Payload payload = script_->new_payload(text_);
  out.insert(kCanarySlot, key, payload);
  out.insert(kCanarySlot, key, payload);
  out.delete_pair(kCanarySlot, key, payload);
  out.delete_pair(kCanarySlot, key, payload);
  out.insert(kCanarySlot, key, payload);
  out.get(kCanarySlot, key);
}

void Canaries::repeated_scan(script::ThreadBuilder& out, uint32_t key, uint32_t length) {
  for (int pass = 0; pass < 2; ++pass) {
    out.get(kCanarySlot, key);
    out.next(kCanarySlot, length);
  }
}

void Canaries::repeated_probe(script::ThreadBuilder& out, const std::vector<uint32_t>& keys) {
  for (int pass = 0; pass < 2; ++pass) {
    for (const uint32_t key : keys) out.get(kCanarySlot, key);
  }
}

}  // namespace keydrome::workload
