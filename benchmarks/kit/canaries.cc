#include "benchmarks/kit/canaries.h"

namespace keydrome {
namespace {

constexpr uint8_t kSlot = 0;

}  // namespace

void Canaries::own_write(ThreadBuilder& out, uint32_t key) {
  const Payload payload = script_->new_payload(text_);
  out.insert(kSlot, key, payload, kDigest);
  out.insert(kSlot, key, payload, kDigest);
  out.delete_pair(kSlot, key, payload, kDigest);
  out.delete_pair(kSlot, key, payload, kDigest);
  out.insert(kSlot, key, payload, kDigest);
  out.get(kSlot, key, kEvidence);
}

void Canaries::repeated_scan(ThreadBuilder& out, uint32_t key, uint32_t length) {
  for (int pass = 0; pass < 2; ++pass) {
    out.get(kSlot, key, kEvidence);
    out.next(kSlot, length, kEvidenceAll);
  }
}

void Canaries::repeated_probe(ThreadBuilder& out, const std::vector<uint32_t>& keys) {
  for (int pass = 0; pass < 2; ++pass) {
    for (const uint32_t key : keys) out.get(kSlot, key, kEvidence);
  }
}

}  // namespace keydrome
