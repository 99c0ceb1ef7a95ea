#include "benchmarks/sigmod2009/thesis_pools.h"

#include <string>

#include "benchmarks/kit/letters.h"

namespace keydrome::sigmod2009 {
namespace {

constexpr uint64_t kRand31 = uint64_t{1} << 31;
constexpr uint64_t kKeyLengths = 127;     // 0..126
constexpr uint64_t kPayloadLengths = 98;  // 0..97

uint32_t first_string(const Strings& strings) {
  uint32_t first = 0;
  for (uint32_t i = 1; i < strings.size(); ++i) {
    if (!strings[i].empty() && (strings[first].empty() || strings[i] < strings[first])) first = i;
  }
  return first;
}

uint32_t draw_text(ScriptBuilder& script, Rng& rng, std::string& text) {
  const uint64_t length = rng.below(kPayloadLengths);
  text.clear();
  letters().append(rng, length > kTagBytes ? length - kTagBytes : 0, text);
  return script.add_text(text);
}

void draw_keys(ScriptBuilder& script, Rng& rng, uint64_t entries, ThesisPools& pools) {
  script.reserve_varchar_keys(entries, entries * kKeyLengths / 2);
  script.reserve_texts(entries, entries * kPayloadLengths / 2);
  std::string text;
  uint64_t neighbour = rng.below(kRand31);
  for (uint64_t i = 0; i < entries; ++i) {
    script.add_int32_key(static_cast<int32_t>(rng.below(kRand31) % (kRand31 - 2) + 1));
    const uint64_t high = neighbour;
    neighbour = rng.below(kRand31);
    const uint64_t glued = (high << 32 | neighbour) % ((uint64_t{1} << 63) - 2) + 1;
    script.add_int64_key(static_cast<int64_t>(glued));
    text.clear();
    letters().append(rng, rng.below(kKeyLengths), text);
    script.add_varchar_key(text);
    pools.texts.push_back(draw_text(script, rng, text));
  }
  pools.keys.fill(static_cast<uint32_t>(entries));
  pools.first_string = first_string(script.pools().varchar_keys);
}

// A payload is the tag and a key.
void draw_shared(ScriptBuilder& script, Rng& rng, uint64_t entries, ThesisPools& pools) {
  script.reserve_varchar_keys(entries, entries * kPayloadLengths / 2);
  script.reserve_texts(entries, entries * kPayloadLengths / 2);
  std::string text;
  for (uint64_t i = 0; i < entries; ++i) {
    text.clear();
    letters().append(rng, rng.below(kPayloadLengths - kTagBytes), text);
    script.add_varchar_key(text);
    pools.texts.push_back(script.add_text(text));
  }
  pools.keys[VARCHAR] = static_cast<uint32_t>(entries);
  pools.first_string = first_string(script.pools().varchar_keys);
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
  if (rule == KeyRule::kRandom) {
    draw_keys(script, rng, entries, pools);
    return pools;
  }
  if (rule == KeyRule::kDoubleLookup) {
    draw_shared(script, rng, entries, pools);
    return pools;
  }
  for (uint64_t byte = 0; byte < 256; ++byte) {
    script.add_int64_key(static_cast<int64_t>(varied(rule, byte)));
  }
  std::string text;
  pools.keys[INT] = 256;
  for (uint64_t i = 0; i < entries; ++i) pools.texts.push_back(draw_text(script, rng, text));
  return pools;
}

}  // namespace keydrome::sigmod2009
