// Lists the instances of the benchmark "ycsb": their mixes of operations, distributions and key
// types.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace keydrome::ycsb {

// How operations choose their items.
enum class Items : uint8_t {
  kZipf,
  kLatest,
  kUniform,
  kHotspot,      // the first 20 % of the items receive 80 % of the operations
  kExponential,  // 95 % of the operations use the newest 6/7 of the items
};

// The form of the keys and payloads of an instance.
enum class Mapping : uint8_t {
  kString100,  // key "user" and the item's hash in decimal; one payload of 100 characters
  kInt64,      // key: the item's hash; one payload of 8 characters
};

// An instance with the percentages of its operations; their sum is 100.
struct Mix {
  std::string_view instance;
  uint32_t read, update, insert, scan, read_modify_write;
  Items items;
  Mapping mapping;
};

inline constexpr uint32_t kScanMax = 100;  // records of a scan: uniform in 1 .. 100

// Workloads A to F are as YCSB defines them. Three more instances have the mix of A and another
// distribution of YCSB, with YCSB's default values. The instances with integer keys follow T. Bang
// et al. (SIGMOD 2020, section 7.1): A, C, D with a Zipf distribution instead of latest, and A over
// many indices.
inline constexpr std::array kMixes = {
    Mix{"a", 50, 50, 0, 0, 0, Items::kZipf, Mapping::kString100},
    Mix{"b", 95, 5, 0, 0, 0, Items::kZipf, Mapping::kString100},
    Mix{"c", 100, 0, 0, 0, 0, Items::kZipf, Mapping::kString100},
    Mix{"d", 95, 0, 5, 0, 0, Items::kLatest, Mapping::kString100},
    Mix{"e", 0, 0, 5, 95, 0, Items::kZipf, Mapping::kString100},
    Mix{"f", 50, 0, 0, 0, 50, Items::kZipf, Mapping::kString100},
    Mix{"a_uniform", 50, 50, 0, 0, 0, Items::kUniform, Mapping::kString100},
    Mix{"a_hotspot", 50, 50, 0, 0, 0, Items::kHotspot, Mapping::kString100},
    Mix{"a_exponential", 50, 50, 0, 0, 0, Items::kExponential, Mapping::kString100},
    Mix{"int64_a", 50, 50, 0, 0, 0, Items::kZipf, Mapping::kInt64},
    Mix{"int64_c", 100, 0, 0, 0, 0, Items::kZipf, Mapping::kInt64},
    Mix{"int64_d_zipf", 95, 0, 5, 0, 0, Items::kZipf, Mapping::kInt64},
    Mix{"many_indices", 50, 50, 0, 0, 0, Items::kZipf, Mapping::kInt64},
};

}  // namespace keydrome::ycsb
