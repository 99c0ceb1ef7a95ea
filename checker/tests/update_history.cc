// Implements update_history.h: makes a random history of updates. Plays its transactions on a list
// with the payload of each key, one after the other, in the order of the moments at which they take
// effect.
#include "checker/tests/update_history.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <random>
#include <vector>

#include "checker/history/event.h"

namespace keydrome {

using history::Event;
using history::EventCall;
using history::History;

namespace {

// The next transaction of a thread. It takes effect at `moment`, between its begin and its end.
struct Next {
  uint64_t moment, begin, end;
  uint32_t thread;
  bool operator>(const Next& other) const { return moment > other.moment; }
};

class Player {
 public:
  explicit Player(const UpdateOptions& options)
      : options_(options), random_(options.seed), payloads_(options.keys) {
    history_.indexes.push_back({INT, "updates"});
    history_.threads.resize(options.threads);
    history_.timestamp_slack = UINT64_MAX;
  }

  History run() {
    insert_all();
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
    for (uint32_t thread = 0; thread < options_.threads; ++thread) queue.push(after(1, thread));
    for (uint32_t done = 0; done < options_.transactions; ++done) {
      const Next next = queue.top();
      queue.pop();
      play(next);
      queue.push(after(next.end, next.thread));
    }
    return std::move(history_);
  }

 private:
  uint64_t pick(uint64_t bound) { return random_() % bound; }

  // Plans the next transaction of a thread whose previous one ended at `free_from`.
  Next after(uint64_t free_from, uint32_t thread) {
    const auto wait = [&] {
      const bool stalls = pick(uint64_t{2} * options_.stalls_one_in) == 0;
      return 1 + pick(100) + (stalls ? pick(options_.stall_ticks) : 0);
    };
    Next next{.moment = 0, .begin = free_from + 1 + pick(20), .end = 0, .thread = thread};
    next.moment = next.begin + wait();
    next.end = next.moment + wait();
    return next;
  }

  void insert_all() {
    note({0, 0, 1, 0}, EventCall::kBegin, 0, 0);
    for (uint64_t key = 0; key < options_.keys; ++key) {
      note({0, 0, 1, 0}, EventCall::kInsert, key, payloads_[key] = ++newest_);
    }
    note({0, 0, 1, 0}, EventCall::kCommit, 0, 0);
  }

  void play(const Next& next) {
    const uint64_t key = pick(4) == 0 ? 0 : pick(options_.keys);
    note(next, EventCall::kBegin, 0, 0);
    if (pick(2) == 0) {
      note(next, EventCall::kGet, key, payloads_[key]);
    } else {
      note(next, EventCall::kDeleteKey, key, 0);
      note(next, EventCall::kInsert, key, payloads_[key] = ++newest_);
    }
    note(next, EventCall::kCommit, 0, 0);
  }

  void note(const Next& next, EventCall call, uint64_t key, uint64_t payload) {
    Event event{};
    event.call = static_cast<uint8_t>(call);
    event.code = SUCCESS;
    event.key = key;
    event.payload = payload;
    event.end = next.end;
    event.duration = static_cast<uint32_t>(next.end - next.begin);
    history_.threads[next.thread].push_back(event);
  }

  const UpdateOptions options_;
  // NOLINTNEXTLINE(bugprone-random-generator-seed): a seed gives the same history every time
  std::mt19937_64 random_;
  std::vector<uint64_t> payloads_;  // by key: its only payload
  uint64_t newest_ = 0;
  History history_;
};

}  // namespace

History update_history(const UpdateOptions& options) { return Player(options).run(); }

}  // namespace keydrome
