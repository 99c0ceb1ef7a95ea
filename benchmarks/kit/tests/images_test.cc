// Tests the images: the bytes of pools and rounds that the referee passes to the player.
#include "benchmarks/kit/script/images.h"

#include <gtest/gtest.h>

#include <cstring>

#include "benchmarks/kit/player/pools_view.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome {
namespace {

// A script with keys of extreme values and two threads. The tests read its images from vectors. The
// player maps images at page boundaries, but the alignment of a vector's memory suffices for these
// tests.
script::Script small_script() {
  script::ScriptBuilder script;
  script.add_class("check");
  script.add_index("numbers", INT);
  script.add_index("words", VARCHAR);
  script.add_int32_key(-7);
  script.add_int64_key(INT64_MIN);
  script.add_varchar_key("");
  script.add_varchar_key(std::string(MAX_VARCHAR_LEN, 'k'));
  script.add_text(std::string(MAX_PAYLOAD_LEN - format::kTagBytes, 't'));
  const uint32_t phase = script.add_phase("test", 2, {});
  for (uint32_t t = 0; t < 2; ++t) {
    script::ThreadBuilder out = script.thread(phase, t);
    for (int i = 0; i < 10; ++i) {
      out.unit_start();
      out.open(0, 0);
      out.begin(format::Kind::kStream, 0);
      for (uint32_t k = 0; k < 3 + t; ++k) out.get(0, 0);
      out.commit();
      out.close(0);
    }
  }
  return script.build();
}

TEST(PoolsImage, RoundTrips) {
  const script::Script script = small_script();
  const std::vector<std::byte> image = script::pools_image(script);
  const Result<player::PoolsView> view = player::PoolsView::open(image);
  ASSERT_TRUE(view.ok()) << view.error().message;
  ASSERT_EQ(view->indexes.size(), 2u);
  EXPECT_STREQ(view->indexes[1].name, "words");
  EXPECT_EQ(view->int32_keys[0], -7);
  EXPECT_EQ(view->int64_keys[0], INT64_MIN);
  EXPECT_EQ(view->varchar_keys[0], "");
  EXPECT_EQ(view->varchar_keys[1], script.pools.varchar_keys[1]);
  EXPECT_EQ(view->payloads[1], script.pools.payloads[1]);
}

TEST(PoolsImage, EveryTruncationIsAnError) {
  const std::vector<std::byte> image = script::pools_image(small_script());
  for (std::size_t size = 0; size < image.size(); ++size) {
    EXPECT_FALSE(player::PoolsView::open(std::span(image).first(size)).ok()) << size;
  }
}

TEST(PoolsImage, DamagedHeadersAreNeverFollowedOutside) {
  const std::vector<std::byte> image = script::pools_image(small_script());
  workload::Rng rng(1, 0, workload::Purpose::kStream);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> damaged = image;
    damaged[rng.below(sizeof(format::PoolsHeader))] = static_cast<std::byte>(rng.next());
    const Result<player::PoolsView> view = player::PoolsView::open(damaged);
    if (!view) continue;
    for (uint32_t k = 0; k < view->varchar_keys.size(); ++k) {
      EXPECT_LE(view->varchar_keys[k].size(), std::size_t{MAX_VARCHAR_LEN});
    }
  }
}

TEST(Rounds, HoldTheWholeProgramInOrderAndBeginAtUnits) {
  const script::Script script = small_script();
  const script::PhaseScript& phase = script.phases[0];
  for (const uint64_t ops_per_round : {1u, 7u, 20u, 1000u}) {
    const script::RoundPlan plan = script::plan_rounds(phase, ops_per_round);
    std::vector<std::vector<format::Op>> joined(phase.threads.size());
    for (uint32_t r = 0; r < plan.rounds(); ++r) {
      const std::vector<std::byte> image = script::round_image(phase, plan, r);
      format::RoundHeader header{};
      std::memcpy(&header, image.data(), sizeof header);
      EXPECT_EQ(header.round, r);
      EXPECT_EQ(header.last, r + 1 == plan.rounds() ? 1u : 0u);
      for (std::size_t t = 0; t < joined.size(); ++t) {
        std::vector<format::Op> ops(header.spans[t].count);
        if (!ops.empty()) {
          std::memcpy(ops.data(), image.data() + header.spans[t].offset,
                      ops.size() * sizeof(format::Op));
        }
        if (!ops.empty()) {
          EXPECT_NE(ops.front().flags & format::kUnitStart, 0);
        }
        joined[t].insert(joined[t].end(), ops.begin(), ops.end());
      }
    }
    for (std::size_t t = 0; t < joined.size(); ++t) {
      ASSERT_EQ(joined[t].size(), phase.threads[t].size());
      EXPECT_EQ(std::memcmp(joined[t].data(), phase.threads[t].data(),
                            joined[t].size() * sizeof(format::Op)),
                0);
    }
  }
}

}  // namespace
}  // namespace keydrome
