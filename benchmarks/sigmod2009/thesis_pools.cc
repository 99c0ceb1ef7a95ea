#include "benchmarks/sigmod2009/thesis_pools.h"

#include <algorithm>
#include <string>

#include "benchmarks/kit/letters.h"

namespace keydrome::sigmod2009 {
namespace {

constexpr uint64_t kRand31 = uint64_t{1} << 31;
constexpr uint64_t kKeyLengths = 127;     // 0..126
constexpr uint64_t kPayloadLengths = 98;  // 0..97

uint32_t first_string(const Strings& strings, const std::vector<uint32_t>& keys) {
  return *std::min_element(keys.begin(), keys.end(), [&](uint32_t a, uint32_t b) {
    const bool a_empty = strings[a].empty(), b_empty = strings[b].empty();
    return a_empty != b_empty ? b_empty : strings[a] < strings[b];
  });
}

uint32_t draw_text(ScriptBuilder& script, Rng& rng) {
  const uint64_t length = rng.below(kPayloadLengths);
  return script.add_text(draw_letters(rng, length > kTagBytes ? length - kTagBytes : 0));
}

void draw_keys(ScriptBuilder& script, Rng& rng, uint64_t entries, ThesisPools& pools) {
  uint64_t neighbour = rng.below(kRand31);
  for (uint64_t i = 0; i < entries; ++i) {
    pools.keys[SHORT].push_back(
        script.add_int32_key(static_cast<int32_t>(rng.below(kRand31) % (kRand31 - 2) + 1)));
    const uint64_t high = neighbour;
    neighbour = rng.below(kRand31);
    const uint64_t glued = (high << 32 | neighbour) % ((uint64_t{1} << 63) - 2) + 1;
    pools.keys[INT].push_back(script.add_int64_key(static_cast<int64_t>(glued)));
    pools.keys[VARCHAR].push_back(
        script.add_varchar_key(draw_letters(rng, rng.below(kKeyLengths))));
    pools.texts.push_back(draw_text(script, rng));
  }
  pools.first_string = first_string(script.pools().varchar_keys, pools.keys[VARCHAR]);
}

// A payload is the tag and a key.
void draw_shared(ScriptBuilder& script, Rng& rng, uint64_t entries, ThesisPools& pools) {
  for (uint64_t i = 0; i < entries; ++i) {
    const std::string letters = draw_letters(rng, rng.below(kPayloadLengths - kTagBytes));
    pools.keys[VARCHAR].push_back(script.add_varchar_key(letters));
    pools.texts.push_back(script.add_text(letters));
  }
  pools.first_string = first_string(script.pools().varchar_keys, pools.keys[VARCHAR]);
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

ThesisPools draw_thesis_pools(ScriptBuilder& script, uint64_t seed, uint64_t entries,
                              KeyRule rule) {
  Rng rng(seed, 0, Purpose::kPools);
  ThesisPools pools;
  pools.keys.resize(3);
  if (rule == KeyRule::kRandom) {
    draw_keys(script, rng, entries, pools);
    return pools;
  }
  if (rule == KeyRule::kDoubleLookup) {
    draw_shared(script, rng, entries, pools);
    return pools;
  }
  for (uint64_t byte = 0; byte < 256; ++byte) {
    pools.keys[INT].push_back(script.add_int64_key(static_cast<int64_t>(varied(rule, byte))));
  }
  for (uint64_t i = 0; i < entries; ++i) pools.texts.push_back(draw_text(script, rng));
  return pools;
}

}  // namespace keydrome::sigmod2009
