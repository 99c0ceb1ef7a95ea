// Implements GraphKeys, the keys of a social graph: adds all loaded keys to the script's list of
// keys in a fixed order, so that the numbers of most keys can be computed.
#include "benchmarks/linkbench/graph_keys.h"

#include <numeric>

#include "benchmarks/linkbench/procedures.h"

namespace keydrome::linkbench {

GraphKeys::GraphKeys(script::ScriptBuilder& builder, std::span<const uint32_t> degrees,
                     uint32_t spare_texts)
    : builder_(builder),
      nodes_(static_cast<uint32_t>(degrees.size())),
      next_id_(id_of(static_cast<uint32_t>(degrees.size()))) {
  const std::size_t links = std::reduce(degrees.begin(), degrees.end(), std::size_t{0});
  const std::size_t list_keys = nodes_ * std::size_t{kTypes + 1};
  // Reserves half as much again for the keys that the run adds.
  builder_.reserve_varchar_keys(
      (list_keys + 2 * links) * 3 / 2,
      (list_keys * kListBytes + links * (kPairBytes + kLinkBytes)) * 3 / 2);
  builder_.reserve_texts(links + spare_texts,
                         links * kLinkRowBytes + spare_texts * std::size_t{MAX_PAYLOAD_LEN});
  for (uint32_t node = 0; node < nodes_; ++node) {
    builder_.add_int64_key(id_of(node));
    for (uint32_t type = 0; type <= kTypes; ++type) {
      add_key([&](std::string& key) { append_list_key(key, id_of(node), type); });
    }
    for (uint32_t type = 0; type < kTypes; ++type) {
      first_link_.push_back(first_link_.back() + (degrees[node] + kTypes - 1 - type) / kTypes);
    }
  }
  add_link_keys([this](std::string& key, uint32_t id1, uint32_t type, uint32_t id2) {
    append_link_key(key, id1, type, ++time_, id2);
  });
  for (uint32_t link = 0; link < links; ++link) builder_.expect_computed_key(link_key(link));
  add_link_keys(append_pair_key);
}

template <typename Write>
uint32_t GraphKeys::add_key(const Write& write) {
  key_.clear();
  write(key_);
  return builder_.add_varchar_key(key_);
}

template <typename Append>
void GraphKeys::add_link_keys(const Append& append) {
  for (uint32_t list = 0; list < lists(); ++list) {
    const uint32_t id1 = id_of(list / kTypes);
    for (uint32_t i = 0; i < links_of(list); ++i) {
      add_key([&](std::string& key) { append(key, id1, list % kTypes, id1 + i); });
    }
  }
}

uint32_t GraphKeys::pair_of_list(uint32_t list, uint32_t i) {
  if (i < links_of(list)) return pair_key(first_link_[list] + i);
  const auto [entry, is_new] = later_pairs_.try_emplace(uint64_t{list} << 32 | i, 0);
  if (is_new) {
    const uint32_t id1 = id_of(list / kTypes);
    entry->second =
        add_key([&](std::string& key) { append_pair_key(key, id1, list % kTypes, id1 + i); });
  }
  return entry->second;
}

uint32_t GraphKeys::add_newer_link(uint32_t list, uint32_t i) {
  const uint32_t id1 = id_of(list / kTypes);
  const uint32_t number = add_key(
      [&](std::string& key) { append_link_key(key, id1, list % kTypes, ++time_, id1 + i); });
  builder_.expect_computed_key(number);
  return number;
}

uint32_t GraphKeys::add_node() { return builder_.add_int64_key(next_id_++); }

}  // namespace keydrome::linkbench
