// Implements phases.h: runs and times the loops of all subjects, and checks their results.
#include "structures/bench/phases.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/cache_line.h"
#include "base/clock.h"
#include "structures/bench/cpu_clock.h"

namespace keydrome::bench {
namespace {

constexpr uint32_t kScanLength = 100;
constexpr uint64_t kOperationsPerScan = 30;
// Small subjects are loaded several times, because a single load is too short to measure.
constexpr uint64_t kLoadedKeys = 1'000'000;
constexpr uint64_t kLoadsMax = 7;

// Returns 0. The compiler cannot know the result, so it cannot remove computations with it.
uint64_t opaque_zero() {
  static std::atomic<uint64_t> zero = 0;
  return zero.load(std::memory_order_relaxed);
}

class Measurement {
 public:
  Measurement(const Subjects& subjects, const Keys& keys, const Plan& plan)
      : subjects_(subjects), keys_(keys), plan_(plan), source_(keys, keys.size()) {}

  Json run() {
    load();
    for (uint32_t round = 0; round < plan_.rounds; ++round) {
      scans_.reset();
      for (std::size_t i = 0; i < subjects_.size(); ++i) {
        // Each round begins with another subject.
        one_round(*subjects_[(i + round) % subjects_.size()]);
      }
    }
    return std::move(result_);
  }

 private:
  void load() {
    const uint64_t most = plan_.rounds == 1 ? 1 : kLoadsMax;
    const uint64_t loads = std::clamp<uint64_t>(kLoadedKeys / keys_.size(), 1, most);
    for (uint64_t i = 0; i < loads; ++i) {
      for (const auto& subject : subjects_) {
        subject->clear();
        const uint64_t begin = cpu_ns();
        subject->load(keys_);
        note(*subject, "insert", cpu_ns() - begin, keys_.size());
      }
    }
  }

  void one_round(Subject& subject) {
    const Abilities abilities = subject.abilities();
    timed(subject, "lookup", Draw::kUniform, [&](const Queries& q) { return subject.look_up(q); });
    timed(subject, "chained", Draw::kUniform,
          [&](const Queries& q) { return subject.chain(q, opaque_zero()); });
    timed(subject, "zipf", Draw::kZipf, [&](const Queries& q) { return subject.look_up(q); });
    if (abilities.batch) {
      timed(subject, "batch", Draw::kUniform, [&](const Queries& q) { return subject.batch(q); });
    }
    if (abilities.ordered) scans(subject);
    if (abilities.shared_reads) {
      with_threads(subject, "lookup_threads_1", 1, &Subject::look_up, Draw::kUniform);
      with_threads(subject, "lookup_threads", plan_.threads, &Subject::look_up, Draw::kUniform);
    }
    if (abilities.updates) {
      with_threads(subject, "mixed_threads_1", 1, &Subject::mixed, Draw::kZipf);
      if (abilities.thread_safe) {
        with_threads(subject, "mixed_threads", plan_.threads, &Subject::mixed, Draw::kZipf);
      }
    }
  }

  bool wanted(std::string_view loop) const {
    return plan_.loops.empty() || std::ranges::find(plan_.loops, loop) != plan_.loops.end();
  }

  void timed(Subject& subject, const char* loop, Draw draw,
             const std::function<uint64_t(const Queries&)>& body) {
    if (!wanted(loop)) return;
    const Queries queries = source_.draw(draw, plan_.operations);
    const uint64_t begin = cpu_ns();
    const uint64_t sum = body(queries);
    note(subject, loop, cpu_ns() - begin, plan_.operations);
    check_sum(subject, sum, queries.sum);
  }

  // All subjects scan from the same keys, so the sums that they return must be equal. Other loops
  // run between the scans of two subjects, so the keys are no longer in the processor's caches when
  // the next subject scans from them.
  void scans(Subject& subject) {
    if (!wanted("scan")) return;
    const uint64_t count = std::max<uint64_t>(plan_.operations / kOperationsPerScan, 1);
    if (!scans_) scans_.emplace(Scans{source_.draw(Draw::kUniform, count), std::nullopt});
    const uint64_t begin = cpu_ns();
    const uint64_t sum = subject.scan(scans_->queries, kScanLength);
    note(subject, "scan", cpu_ns() - begin, count);
    if (!scans_->sum) scans_->sum = sum;
    check_sum(subject, sum, *scans_->sum);
  }

  // Measures the time from the first query of any thread to the end of the last thread. No thread
  // begins before all are ready. Each thread has its own queries. All threads together execute as
  // many queries as a single thread would.
  void with_threads(Subject& subject, const char* loop, uint32_t count,
                    uint64_t (Subject::*body)(const Queries&), Draw draw) {
    if (!wanted(loop)) return;
    std::vector<Queries> queries;
    for (uint32_t i = 0; i < count; ++i) {
      queries.push_back(source_.draw(draw, plan_.operations / count));
    }
    std::atomic<uint32_t> ready = 0;
    std::vector<Padded<uint64_t>> begins(count), ends(count);
    const auto work = [&](uint32_t number) {
      ready.fetch_add(1);
      while (ready.load() < count) std::this_thread::yield();
      begins[number].value = now_ns();
      check_sum(subject, (subject.*body)(queries[number]), queries[number].sum);
      ends[number].value = now_ns();
    };
    if (count > 1) subject.begin_threads();
    std::vector<std::thread> threads;
    for (uint32_t i = 1; i < count; ++i) threads.emplace_back(work, i);
    work(0);
    for (std::thread& thread : threads) thread.join();
    if (count > 1) subject.end_threads();
    uint64_t begin = begins[0].value, end = ends[0].value;
    for (uint32_t i = 1; i < count; ++i) {
      begin = std::min(begin, begins[i].value);
      end = std::max(end, ends[i].value);
    }
    note(subject, loop, end - begin, plan_.operations / count * count);
  }

  static void check_sum(const Subject& subject, uint64_t sum, uint64_t wanted) {
    if (sum == wanted) return;
    const std::string what = "the sum of the payloads that it returned is " + std::to_string(sum) +
                             ", but must be " + std::to_string(wanted);
    stop_at_wrong_result("the structure measured as \"" + subject.name() + "\"", what.c_str());
  }

  void note(const Subject& subject, const char* loop, uint64_t ns, uint64_t operations) {
    result_[subject.name()][loop].push_back(static_cast<double>(ns) /
                                            static_cast<double>(operations));
  }

  struct Scans {
    Queries queries;
    std::optional<uint64_t> sum;
  };

  const Subjects& subjects_;
  const Keys& keys_;
  const Plan plan_;
  QuerySource source_;
  std::optional<Scans> scans_;  // the scans of this round
  Json result_;
};

}  // namespace

Json measure(const Subjects& subjects, const Keys& keys, const Plan& plan) {
  return Measurement(subjects, keys, plan).run();
}

}  // namespace keydrome::bench
