// Implements the key orders of the benchmark "inserts": one class for each way to compute keys.
#include "benchmarks/inserts/key_orders.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "benchmarks/kit/workload/clients.h"

namespace keydrome::inserts {
namespace {

constexpr uint32_t kBlock = 1'000;  // keys in a block
constexpr uint32_t kRuns = 4;
constexpr uint32_t kMoves = 10;
constexpr int kThreadBits = 16;

class SharedCounter : public KeyOrder {
 public:
  int64_t key(uint32_t /*thread*/, uint32_t /*i*/) override { return next_++; }

 private:
  int64_t next_ = 0;
};

// Computes the blocks that a shared counter would assign. The generator writes one insert of each
// thread in turn, so all threads need their next block in the same turn. Therefore the counter
// would assign the blocks in the order of thread numbers.
class Blocks : public KeyOrder {
 public:
  explicit Blocks(uint32_t threads) : threads_(threads) {}
  int64_t key(uint32_t thread, uint32_t i) override {
    const int64_t block = int64_t{i / kBlock} * threads_ + thread;
    return block * kBlock + i % kBlock;
  }

 private:
  uint32_t threads_;
};

class Timestamps : public KeyOrder {
 public:
  int64_t key(uint32_t thread, uint32_t i) override { return int64_t{i} << kThreadBits | thread; }
};

// Each thread inserts its own part of the keys. The order within a part is the same for all
// threads.
class Parts : public KeyOrder {
 public:
  explicit Parts(std::vector<uint32_t> order) : order_(std::move(order)) {}
  int64_t key(uint32_t thread, uint32_t i) override {
    return static_cast<int64_t>(order_.size() * thread + order_[i]);
  }

 private:
  std::vector<uint32_t> order_;
};

// Returns the positions 0 .. count-1, alternating between kRuns ascending runs.
std::vector<uint32_t> interleaved(uint32_t count) {
  std::vector<uint32_t> order;
  for (uint64_t at = 0; order.size() < count; ++at) {
    for (uint64_t run = 0; run < kRuns; ++run) {
      const uint64_t position = count * run / kRuns + at;
      if (position < count * (run + 1) / kRuns) {
        order.push_back(static_cast<uint32_t>(position));
      }
    }
  }
  return order;
}

// Returns the order of the positions within the part of one thread.
std::vector<uint32_t> part_order(std::string_view instance, uint32_t count, uint64_t seed) {
  workload::Rng rng(seed, 0, workload::Purpose::kShape);
  if (instance == "bulk_random") return workload::shuffled(count, rng);
  if (instance == "bulk_interleaved") return interleaved(count);
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  if (instance == "bulk_reverse") std::reverse(order.begin(), order.end());
  return order;
}

// Inserts into a range of the loaded keys. A moving range has kMoves random positions, one after
// the other.
class HotRange : public KeyOrder {
 public:
  HotRange(const Scale& scale, uint64_t seed, bool moves)
      : scale_(scale), ranges_(moves ? kMoves : 1), range_rng_(seed, 0, workload::Purpose::kShape) {
    const uint64_t width = uint64_t{scale.records} * scale.hot_permille / 1000;
    width_ = static_cast<int64_t>(std::max<uint64_t>(1, width));
    for (uint32_t thread = 0; thread < scale.threads; ++thread) {
      key_rngs_.emplace_back(seed, thread, workload::Purpose::kPools);
    }
  }

  int64_t key(uint32_t thread, uint32_t i) override {
    const uint64_t range = uint64_t{i} * ranges_ / scale_.inserts;
    while (starts_.size() <= range) {
      starts_.push_back(static_cast<int64_t>(
          range_rng_.below(scale_.records - static_cast<uint64_t>(width_) + 1)));
    }
    workload::Rng& rng = key_rngs_[thread];
    const auto record = static_cast<int64_t>(rng.below(static_cast<uint64_t>(width_)));
    const auto offset = static_cast<int64_t>(rng.below(kGap - 1));
    return (starts_[range] + record) * kGap + 1 + offset;  // never one of the loaded keys
  }

 private:
  Scale scale_;
  uint32_t ranges_;  // number of ranges in the whole run
  workload::Rng range_rng_;
  int64_t width_ = 1;                    // width of a range, in loaded records
  std::vector<int64_t> starts_;          // by range: the number of its first loaded record
  std::vector<workload::Rng> key_rngs_;  // by thread
};

}  // namespace

std::unique_ptr<KeyOrder> key_order(std::string_view instance, const Scale& scale, uint64_t seed) {
  if (instance == "monotone_shared") return std::make_unique<SharedCounter>();
  if (instance == "monotone_blocks") return std::make_unique<Blocks>(scale.threads);
  if (instance == "monotone_timestamp") return std::make_unique<Timestamps>();
  if (instance.starts_with("hotspot")) {
    return std::make_unique<HotRange>(scale, seed, instance == "hotspot_moving");
  }
  return std::make_unique<Parts>(part_order(instance, scale.inserts, seed));
}

}  // namespace keydrome::inserts
