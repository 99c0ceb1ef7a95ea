// Implements the pools (lists of keys and payload texts) of the SIGMOD 2009 contest: chooses
// random entries as the organisers' code does.
#include "benchmarks/sigmod2009/thesis_pools.h"

#include <string>

#include "benchmarks/kit/workload/random_text.h"

namespace keydrome::sigmod2009 {
namespace {

constexpr uint64_t kRand31 = uint64_t{1} << 31;
constexpr uint64_t kKeyLengths = 127;     // lengths 0 to 126
constexpr uint64_t kPayloadLengths = 98;  // lengths 0 to 97

uint32_t random_payload_text(script::ScriptBuilder& script, workload::Rng& rng, std::string& text) {
  const uint64_t length = rng.below(kPayloadLengths);
  text.clear();
  workload::letters().append(rng, length > format::kTagBytes ? length - format::kTagBytes : 0,
                             text);
  return script.add_text(text);
}

void add_random_entries(script::ScriptBuilder& script, workload::Rng& rng, uint64_t entries,
                        ThesisPools& pools) {
  script.reserve_varchar_keys(entries, entries * kKeyLengths / 2);
  script.reserve_texts(entries, entries * kPayloadLengths / 2);
  std::string text;
  uint64_t previous = rng.below(kRand31);
  for (uint64_t i = 0; i < entries; ++i) {
    script.add_int32_key(static_cast<int32_t>(rng.below(kRand31) % (kRand31 - 2) + 1));
    const uint64_t high = previous;
    previous = rng.below(kRand31);
    const uint64_t joined = (high << 32 | previous) % ((uint64_t{1} << 63) - 2) + 1;
    script.add_int64_key(static_cast<int64_t>(joined));
    text.clear();
    workload::letters().append(rng, rng.below(kKeyLengths), text);
    script.add_varchar_key(text);
    pools.texts.push_back(random_payload_text(script, rng, text));
  }
  pools.keys.fill(static_cast<uint32_t>(entries));
}

// Adds strings that serve both as texts and as keys: a payload is a tag (eight letters that make it
// unique), followed by a key.
void add_shared_entries(script::ScriptBuilder& script, workload::Rng& rng, uint64_t entries,
                        ThesisPools& pools) {
  script.reserve_varchar_keys(entries, entries * kPayloadLengths / 2);
  script.reserve_texts(entries, entries * kPayloadLengths / 2);
  std::string text;
  for (uint64_t i = 0; i < entries; ++i) {
    text.clear();
    workload::letters().append(rng, rng.below(kPayloadLengths - format::kTagBytes), text);
    script.add_varchar_key(text);
    pools.texts.push_back(script.add_text(text));
  }
  pools.keys[VARCHAR] = static_cast<uint32_t>(entries);
}

constexpr uint64_t varied(KeyRule rule, uint64_t byte) {
  if (rule == KeyRule::kVaryHigh) return byte << 56;
  return rule == KeyRule::kVaryHighPositive ? byte << 55 : byte;
}

}  // namespace

KeyRule key_rule(std::string_view instance) {
  if (instance == "vary_high") return KeyRule::kVaryHigh;
  if (instance == "vary_high_positive") return KeyRule::kVaryHighPositive;
  if (instance == "double_lookup") return KeyRule::kDoubleLookup;
  return instance == "vary_low" ? KeyRule::kVaryLow : KeyRule::kRandom;
}

ThesisPools random_thesis_pools(script::ScriptBuilder& script, uint64_t seed, uint64_t entries,
                                KeyRule rule) {
  workload::Rng rng(seed, 0, workload::Purpose::kPools);
  ThesisPools pools;
  if (rule == KeyRule::kRandom) {
    add_random_entries(script, rng, entries, pools);
    return pools;
  }
  if (rule == KeyRule::kDoubleLookup) {
    add_shared_entries(script, rng, entries, pools);
    return pools;
  }
  for (uint64_t byte = 0; byte < 256; ++byte) {
    script.add_int64_key(static_cast<int64_t>(varied(rule, byte)));
  }
  std::string text;
  pools.keys[INT] = 256;
  for (uint64_t i = 0; i < entries; ++i)
    pools.texts.push_back(random_payload_text(script, rng, text));
  return pools;
}

}  // namespace keydrome::sigmod2009
