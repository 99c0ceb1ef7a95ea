// Tests the ring, the memory through which the referee, the trusted process, passes operations to
// the player, the jailed process. The operations arrive in portions, called pieces. The pieces must
// arrive in order, and only the referee can write to the ring.
#include "harness/ring.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "benchmarks/kit/player/pools_view.h"
#include "benchmarks/kit/script/images.h"
#include "harness/player/mapping.h"
#include "harness/player/ring_view.h"
#include "harness/referee/memory/input_ring.h"
#include "harness/referee/memory/piece_supply.h"
#include "harness/tests/small_script.h"

namespace keydrome {
namespace {

std::vector<std::byte> piece(uint8_t value, std::size_t bytes) {
  return std::vector<std::byte>(bytes, std::byte{value});
}

TEST(Ring, TheMappingOfThePlayerCannotBeMadeWritable) {
  const std::array<uint64_t, 1> halves{100};
  const Result<InputRing> ring = InputRing::create(10, halves);
  ASSERT_TRUE(ring.ok());
  const Mapping mapping(ring->fd(), Mapping::Access::kRead);
  ASSERT_GT(mapping.bytes().size(), sizeof(RingHeader));
  void* const memory = mapping.bytes().data();
  EXPECT_EQ(mprotect(memory, 1, PROT_READ | PROT_WRITE), -1);
  EXPECT_EQ(errno, EACCES);
  EXPECT_EQ(madvise(memory, 4096, MADV_REMOVE), -1);
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd(), 0), MAP_FAILED);
  EXPECT_EQ(pwrite(ring->fd(), "x", 1, 0), -1);
  EXPECT_EQ(ftruncate(ring->fd(), 0), -1);
  EXPECT_EQ(fallocate(ring->fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
  EXPECT_EQ(fcntl(ring->fd(), F_ADD_SEALS, F_SEAL_WRITE), -1);
}

TEST(Ring, WhatTheRefereeWritesIsSeenAtOnce) {
  const std::array<uint64_t, 2> halves{100, 10'000};
  Result<InputRing> ring = InputRing::create(3, halves);
  ASSERT_TRUE(ring.ok());
  const Mapping mapping(ring->fd(), Mapping::Access::kRead);
  const RingView view(mapping.bytes());
  ring->write_session(piece(9, 3));
  ASSERT_EQ(view.session().size(), 3u);
  EXPECT_EQ(view.session()[2], std::byte{9});
  ring->publish(1, piece(1, 10'000));
  ring->publish(0, piece(2, 100));
  ring->publish(1, piece(3, 9'000));
  EXPECT_EQ(view.await(1, 0)[9'999], std::byte{1});
  EXPECT_EQ(view.await(0, 0)[99], std::byte{2});
  EXPECT_EQ(view.await(1, 1)[8'999], std::byte{3});
  EXPECT_EQ(ring->filled(1), 2u);
  ring->clear();
  EXPECT_EQ(ring->filled(1), 0u);
}

// A thread that has used up its pieces sleeps until its next piece arrives.
TEST(Ring, AThreadWaitsForItsPiece) {
  constexpr uint8_t kPieces = 200;
  const std::array<uint64_t, 1> halves{8};
  Result<InputRing> ring = InputRing::create(1, halves);
  ASSERT_TRUE(ring.ok());
  const Mapping mapping(ring->fd(), Mapping::Access::kRead);
  const RingView view(mapping.bytes());
  std::atomic<uint32_t> begun = 0;
  std::vector<uint8_t> seen;
  std::thread player([&] {
    for (uint32_t number = 0; number < kPieces; ++number) {
      seen.push_back(static_cast<uint8_t>(view.await(0, number)[0]));
      begun.store(number + 1, std::memory_order_release);
      begun.notify_one();
    }
  });
  for (uint8_t number = 0; number < kPieces; ++number) {
    ring->publish(0, piece(number, 8));
    begun.wait(number, std::memory_order_acquire);
  }
  player.join();
  for (uint32_t number = 0; number < kPieces; ++number) EXPECT_EQ(seen[number], number);
}

#ifdef __linux__
// A library could put its own memory in the place of the ring. The system call mseal (Linux 6.10)
// prevents this.
TEST(Ring, ASealedMappingCannotBeReplaced) {
  constexpr long kMseal = 462;
  if (syscall(kMseal, nullptr, 0, 0) != 0 && errno == ENOSYS)
    GTEST_SKIP() << "this kernel has no system call mseal; use Linux 6.10 or newer";
  const std::array<uint64_t, 1> halves{8};
  const Result<InputRing> ring = InputRing::create(1, halves);
  ASSERT_TRUE(ring.ok());
  const Mapping mapping(ring->fd(), Mapping::Access::kRead);
  mapping.seal();
  void* const memory = mapping.bytes().data();
  EXPECT_EQ(
      mmap(memory, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
      MAP_FAILED);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(munmap(memory, 4096), -1);
}
#endif

// Returns the ops that a player receives for one thread, in order.
std::vector<format::Op> ops_through(PieceSupply& supply, const RingView& view,
                                    const player::PoolsView& session, uint32_t thread) {
  std::vector<format::Op> ops;
  for (uint32_t number = 0;; ++number) {
    const player::PieceView piece =
        player::PieceView::open(session, view.await(thread, number)).value();
    ops.insert(ops.end(), piece.ops.begin(), piece.ops.end());
    EXPECT_EQ(piece.last, number + 1 == supply.pieces(thread));
    if (piece.last) return ops;
    supply.publish(thread);
  }
}

TEST(PieceSupply, PassesEveryOpInOrder) {
  const script::Script script = testing::counting_script(2, 40, 100);
  const script::PieceWriter writer(script);
  const script::PhaseScript& phase = script.phases[1];
  const PiecePlan plan = plan_pieces(writer, phase, 10'000);
  Result<InputRing> ring = InputRing::create(1, plan.bytes_max);
  ASSERT_TRUE(ring.ok());
  const Mapping mapping(ring->fd(), Mapping::Access::kRead);
  const RingView view(mapping.bytes());
  const std::vector<std::byte> image = script::pools_image(script);
  const player::PoolsView session = player::PoolsView::open(image).value();
  PieceSupply supply(writer, phase, plan, *ring);
  supply.begin();
  for (uint32_t t = 0; t < 2; ++t) {
    EXPECT_GT(supply.pieces(t), 10u);
    EXPECT_LE(plan.bytes_max[t], 10'000u);
    EXPECT_EQ(plan.bytes[t].size(), supply.pieces(t));
    EXPECT_EQ(plan.bytes_max[t], std::ranges::max(plan.bytes[t]));
    EXPECT_EQ(supply.published(t), 1u) << "one piece before the phase begins";
    const std::vector<format::Op> ops = ops_through(supply, view, session, t);
    ASSERT_EQ(ops.size(), phase.threads[t].size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
      EXPECT_EQ(ops[i].code, phase.threads[t][i].code);
      EXPECT_EQ(ops[i].argument, phase.threads[t][i].argument);
    }
  }
}

TEST(PieceSupply, AProgramThatCannotBeCutIsOnePiece) {
  const script::Script script = testing::counting_script(1, 1, 5'000);
  const script::PieceWriter writer(script);
  const PiecePlan plan = plan_pieces(writer, script.phases[1], 10'000);
  EXPECT_EQ(plan.cuts[0].size(), 2u);
  EXPECT_GT(plan.bytes_max[0], 10'000u);
}

}  // namespace
}  // namespace keydrome
