// In each round, several threads run at full speed under one concurrency control. The test records
// all calls, and certifies the history (proves that a serial order explains all results). Most
// rounds have few keys, and threads yield between calls, so that their transactions overlap. The
// environment variable KEYDROME_SOAK multiplies the number of rounds.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "checker/certify/certify.h"
#include "runtime/codec/key_codec.h"
#include "runtime/configuration.h"
#include "runtime/instance/structure_library.h"
#include "runtime/tests/recorded_client.h"
#include "runtime/tests/setup_json.h"
#include "runtime/tests/variants.h"

namespace keydrome::runtime {

using certify::Certification;
using certify::Verdict;
using certify::Violation;
using history::EventCall;
using history::History;

namespace {

constexpr uint64_t kSeed = 4711;  // the seed of the first round; each further round adds one
constexpr size_t kThreads = 4;
constexpr int kTransactions = 300;  // per thread and round

uint64_t rounds() {
#ifdef KEYDROME_SANITIZED
  constexpr uint64_t kUsual = 1;
#else
  constexpr uint64_t kUsual = 3;
#endif
  const char* factor = std::getenv("KEYDROME_SOAK");
  return kUsual * (factor == nullptr ? 1 : std::strtoull(factor, nullptr, 10));
}

// One thread of a round: makes random transactions and auto-commit calls.
class Player {
 public:
  Player(RecordedClient& client, uint64_t seed, size_t thread, uint64_t keys)
      : client_(client), random_(seed * kThreads + thread), thread_(thread), keys_(keys) {}

  void play() {
    for (int count = 0; count < kTransactions; ++count) {
      if (below(10) == 0) {
        Call call = data_call(false);
        call.auto_commit = true;
        client_.call(call);
        continue;
      }
      client_.call(parse_call("b"));
      const bool only_reads = below(3) == 0;
      for (uint64_t calls = 1 + below(10); calls > 0 && !client_.failed(); --calls) {
        client_.call(data_call(only_reads));
        if (below(8) == 0) std::this_thread::yield();
      }
      client_.call(parse_call(below(20) == 0 ? "a" : "c"));
    }
  }

 private:
  Call data_call(bool only_reads) {
    Call call{};
    call.index = static_cast<uint16_t>(below(2));
    call.key = static_cast<int64_t>(below(keys_));
    const uint64_t which = below(only_reads ? 12 : 20);
    if (which < 5) {
      call.kind = EventCall::kGet;
    } else if (which < 12) {
      call.kind = EventCall::kNext;
    } else if (which < 17) {
      call.kind = EventCall::kInsert;
      call.payload = "t" + std::to_string(thread_) + "." + std::to_string(++payloads_);
      inserted_.push_back(call);
    } else if (which < 19 && !inserted_.empty()) {
      call = inserted_[below(inserted_.size())];
      call.kind = EventCall::kDeletePair;
    } else {
      call.kind = EventCall::kDeleteKey;
    }
    return call;
  }

  uint64_t below(uint64_t bound) { return random_() % bound; }

  RecordedClient& client_;
  std::mt19937_64 random_;
  const size_t thread_;
  const uint64_t keys_;
  uint64_t payloads_ = 0;
  std::vector<Call> inserted_;
};

class CertifiedRun : public testing::TestWithParam<Variant> {
 protected:
  static void play_round(const StructureLibrary& structure, const Configuration& configuration,
                         uint64_t seed) {
    const std::unique_ptr<Strategy> strategy = make_strategy(configuration, structure.table());
    const std::unique_ptr<Concurrency> concurrency =
        make_concurrency(configuration, structure.table());
    const auto make_index = [&] {
      return std::make_unique<Index>("index", INT, strategy->make_store(key_bytes_of(INT)),
                                     concurrency->make_index_concurrency());
    };
    const auto first = make_index();
    const auto second = make_index();
    std::vector<std::unique_ptr<RecordedClient>> clients;
    std::vector<const RecordedClient*> recorded;
    std::vector<std::thread> threads;
    for (size_t at = 0; at < kThreads; ++at) {
      clients.push_back(std::make_unique<RecordedClient>(
          *concurrency, ClientIndexes{first.get(), second.get()}, [] { return now_ns(); }));
      recorded.push_back(clients.back().get());
    }
    // Few keys cause many conflicts. Many keys make the index grow until the concurrency control
    // `serial` cuts it into ranges.
    const uint64_t keys = seed % 3 == 0 ? 400 : 12;
    threads.reserve(kThreads);
    for (size_t at = 0; at < kThreads; ++at) {
      threads.emplace_back([&, at] { Player(*clients[at], seed, at, keys).play(); });
    }
    for (std::thread& thread : threads) thread.join();
    clients[0]->scan_all();
    const History history = history_of(recorded);
    const Certification certified = certify::certify(history);
    EXPECT_EQ(certified.verdict, Verdict::kCertified) << certified.reason;
    for (const Violation& violation : certified.violations) {
      ADD_FAILURE() << violation.name << ": " << violation.detail;
    }
    EXPECT_GT(certified.counts.committed, kThreads * kTransactions / 4) << "too few commits";
  }
};

TEST_P(CertifiedRun, IsStrictlySerialisable) {
  const Variant& variant = GetParam();
  const char* path = variant.thread_safe ? KEYDROME_THREAD_SAFE_STRUCTURE : KEYDROME_BTREE;
  const Result<StructureLibrary> structure = StructureLibrary::load(path);
  ASSERT_TRUE(structure.ok()) << structure.error().message;
  const Result<runtime::Setup> setup =
      parse_setup(setup_json(path, variant.lock, variant.concurrency));
  ASSERT_TRUE(setup.ok()) << setup.error().message;
  for (uint64_t seed = kSeed; seed < kSeed + rounds() && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    play_round(*structure, setup->configuration, seed);
  }
}

constexpr auto kName = [](const testing::TestParamInfo<Variant>& info) {
  return name_of(info.param);
};
INSTANTIATE_TEST_SUITE_P(, CertifiedRun, testing::ValuesIn(variants_and_thread_safe()), kName);

}  // namespace
}  // namespace keydrome::runtime
