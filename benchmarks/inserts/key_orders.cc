#include "benchmarks/inserts/key_orders.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "benchmarks/kit/clients.h"

namespace keydrome::inserts {
namespace {

constexpr uint32_t kBlock = 1'000;
constexpr uint32_t kRuns = 4;
constexpr uint32_t kMoves = 10;
constexpr int kThreadBits = 16;

class SharedCounter : public KeyOrder {
 public:
  int64_t key(uint32_t /*thread*/, uint32_t /*i*/) override { return next_++; }

 private:
  int64_t next_ = 0;
};

// Blocks are taken from a shared counter when a thread needs one, so in turn.
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

// One order for every thread's part.
class Parts : public KeyOrder {
 public:
  explicit Parts(std::vector<uint32_t> order) : order_(std::move(order)) {}
  int64_t key(uint32_t thread, uint32_t i) override {
    return static_cast<int64_t>(order_.size() * thread + order_[i]);
  }

 private:
  std::vector<uint32_t> order_;
};

std::vector<uint32_t> interleaved(uint32_t count) {
  std::vector<uint32_t> order;
  for (uint64_t at = 0; order.size() < count; ++at) {
    for (uint64_t run = 0; run < kRuns; ++run) {
      const uint64_t place = count * run / kRuns + at;
      if (place < count * (run + 1) / kRuns) order.push_back(static_cast<uint32_t>(place));
    }
  }
  return order;
}

std::vector<uint32_t> part_order(std::string_view instance, uint32_t count, uint64_t seed) {
  Rng rng(seed, 0, Purpose::kShape);
  if (instance == "bulk_random") return shuffled(count, rng);
  if (instance == "bulk_interleaved") return interleaved(count);
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  if (instance == "bulk_reverse") std::reverse(order.begin(), order.end());
  return order;
}

class HotStretch : public KeyOrder {
 public:
  HotStretch(const Shape& shape, uint64_t seed, bool moves)
      : shape_(shape), moves_(moves ? kMoves : 1), places_(seed, 0, Purpose::kShape) {
    const uint64_t width = uint64_t{shape.records} * shape.hot_permille / 1000;
    width_ = static_cast<int64_t>(std::max<uint64_t>(1, width));
    for (uint32_t thread = 0; thread < shape.threads; ++thread) {
      draws_.emplace_back(seed, thread, Purpose::kPools);
    }
  }

  int64_t key(uint32_t thread, uint32_t i) override {
    const uint64_t part = uint64_t{i} * moves_ / shape_.inserts;
    while (starts_.size() <= part) {
      starts_.push_back(
          static_cast<int64_t>(places_.below(shape_.records - static_cast<uint64_t>(width_) + 1)));
    }
    const auto place = static_cast<int64_t>(draws_[thread].below(static_cast<uint64_t>(width_)));
    const auto offset = static_cast<int64_t>(draws_[thread].below(kGap - 1));
    return (starts_[part] + place) * kGap + 1 + offset;  // never one of the loaded keys
  }

 private:
  Shape shape_;
  uint32_t moves_;
  Rng places_;
  int64_t width_ = 1;  // in loaded records
  std::vector<int64_t> starts_;
  std::vector<Rng> draws_;
};

}  // namespace

std::unique_ptr<KeyOrder> key_order(std::string_view instance, const Shape& shape, uint64_t seed) {
  if (instance == "monotone_shared") return std::make_unique<SharedCounter>();
  if (instance == "monotone_blocks") return std::make_unique<Blocks>(shape.threads);
  if (instance == "monotone_timestamp") return std::make_unique<Timestamps>();
  if (instance.starts_with("hotspot")) {
    return std::make_unique<HotStretch>(shape, seed, instance == "hotspot_moving");
  }
  return std::make_unique<Parts>(part_order(instance, shape.inserts, seed));
}

}  // namespace keydrome::inserts
