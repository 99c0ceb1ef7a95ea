// KeyRanks: the place of every key of the pools in the contract's order, so that the judge compares
// numbers.
//
// Different pool entries with equal keys have the same rank. Borrows the pools; immutable after
// construction.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "benchmarks/kit/workload.h"

namespace keydrome {

class KeyRanks {
 public:
  explicit KeyRanks(const Pools& pools);

  // Rank of a pool entry.
  uint32_t rank(KeyType type, uint32_t number) const { return rank_of_[type][number]; }

  // Rank of a key as it stands in evidence (4 or 8 bytes of an integer in native order, or the
  // string); nothing when no pool entry is equal to it.
  std::optional<uint32_t> find(KeyType type, std::string_view bytes) const;

  // The key of that rank as evidence bytes, and in words for a finding.
  std::string_view bytes(KeyType type, uint32_t rank) const;
  std::string text(KeyType type, uint32_t rank) const;

 private:
  const Pools* pools_;
  std::array<std::vector<uint32_t>, 3> rank_of_;  // by type: rank of each pool entry
  std::array<std::vector<uint32_t>, 3> entry_;    // by type: a pool entry for each rank
};

}  // namespace keydrome
