#include "indexes/tests/session.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <sstream>
#include <thread>

#include "indexes/tests/model.h"

namespace keydrome {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(20);
constexpr auto kHang = std::chrono::seconds(20);
constexpr int kIndexes = 2;

struct Answered {
  Step step;
  Read answer;
};

// One transaction of a session as it was observed.
struct Attempt {
  int session = 0;
  std::vector<Answered> calls;  // reads and writes
  bool committed = false;
  uint64_t began = 0;  // before its first call was made
  uint64_t ended = 0;  // after its last call returned
};

class Session {
 public:
  Session(int number, KeyType type, std::array<const char*, kIndexes> names,
          std::atomic<uint64_t>& clock)
      : number_(number), type_(type), names_(names), clock_(clock), thread_([this] { run(); }) {}

  void post(const Step& step) {
    const std::lock_guard<std::mutex> guard(lock_);
    steps_.push_back(step);
    changed_.notify_all();
  }

  bool idle_within(std::chrono::milliseconds time) {
    std::unique_lock<std::mutex> guard(lock_);
    return changed_.wait_for(guard, time, [this] { return steps_.empty(); });
  }

  // Lets the thread end what it has and joins it.
  void finish(std::string_view script) {
    if (!idle_within(kHang)) {
      std::fprintf(stderr, "contract_test: session %d hangs in \"%.*s\"\n", number_,
                   static_cast<int>(script.size()), script.data());
      std::abort();
    }
    {
      const std::lock_guard<std::mutex> guard(lock_);
      over_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }

  std::vector<Attempt> attempts;  // readable after finish()

 private:
  void run() {
    std::deque<Handle> handles;
    for (const char* name : names_) handles.emplace_back(name, type_);
    std::unique_lock<std::mutex> guard(lock_);
    for (;;) {
      changed_.wait(guard, [this] { return over_ || !steps_.empty(); });
      if (steps_.empty()) break;
      const Step step = steps_.front();
      guard.unlock();
      play(step, handles[static_cast<size_t>(step.index)]);
      guard.lock();
      steps_.pop_front();  // only now: an empty queue means an idle session
      changed_.notify_all();
    }
    if (txn_ != nullptr) library().abort(txn_);
  }

  void play(const Step& step, const Handle& handle) {
    if (step.call == 'b') {
      attempts.push_back({number_, {}, false, clock_++, 0});
      if (library().begin(&txn_) != SUCCESS) txn_ = nullptr;
    } else if (step.auto_commit) {
      Attempt attempt{number_, {}, false, clock_++, 0};
      const Read answer = call(nullptr, step, handle);
      attempt.committed = answer.code != DEADLOCK;
      attempt.calls.push_back({step, answer});
      attempt.ended = clock_++;
      attempts.push_back(attempt);
    } else if (txn_ == nullptr) {
      return;  // the transaction ended with DEADLOCK: its further steps are void
    } else if (step.call == 'c' || step.call == 'a') {
      const ErrCode code = step.call == 'c' ? library().commit(txn_) : library().abort(txn_);
      attempts.back().committed = step.call == 'c' && code == SUCCESS;
      attempts.back().ended = clock_++;
      if (code == DEADLOCK) library().abort(txn_);
      txn_ = nullptr;
    } else {
      const Read answer = call(txn_, step, handle);
      attempts.back().calls.push_back({step, answer});
      if (answer.code != DEADLOCK) return;
      library().abort(txn_);
      txn_ = nullptr;
    }
  }

  static Read call(TxnState* txn, const Step& step, const Handle& handle) {
    const KeyValue key = handle.key(step.key);
    switch (step.call) {
      case 'g':
        return handle.get(txn, key);
      case 'n':
        return handle.next(txn);
      case 'i':
        return {handle.insert(txn, key, step.payload), {}, {}};
      default:
        return {handle.erase(txn, key, step.payload), {}, {}};
    }
  }

  const int number_;
  const KeyType type_;
  const std::array<const char*, kIndexes> names_;
  std::atomic<uint64_t>& clock_;
  TxnState* txn_ = nullptr;  // the thread's own
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<Step> steps_;  // under lock_
  bool over_ = false;       // under lock_
  std::thread thread_;
};

using State = std::array<ModelIndex, kIndexes>;

// Whether the transaction, run alone on `state`, may have got its answers; changes `state`.
bool explains(KeyType type, const Attempt& attempt, State* state) {
  std::array<ModelCursor, kIndexes> cursors;
  for (const auto& [step, answer] : attempt.calls) {
    ModelIndex& index = (*state)[static_cast<size_t>(step.index)];
    ModelCursor* const cursor =
        step.auto_commit ? nullptr : &cursors[static_cast<size_t>(step.index)];
    const KeyValue key = numbered_key(type, step.key);
    const bool allowed = step.call == 'g'   ? index.accept_get(cursor, key, answer)
                         : step.call == 'n' ? index.accept_next(cursor, answer)
                         : step.call == 'i'
                             ? index.accept_insert(cursor, key, step.payload, answer.code)
                             : index.accept_erase(cursor, key, step.payload, answer.code);
    if (!allowed) return false;
  }
  return true;
}

bool respects_real_time(const std::vector<Attempt>& attempts, const std::vector<size_t>& order) {
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t j = i + 1; j < order.size(); ++j) {
      if (attempts[order[j]].ended < attempts[order[i]].began) return false;
    }
  }
  return true;
}

bool some_order_explains(KeyType type, const std::vector<Attempt>& attempts, const State& before,
                         const State& after) {
  std::vector<size_t> order(attempts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  do {
    if (!respects_real_time(attempts, order)) continue;
    State state = before;
    const bool fits = std::all_of(order.begin(), order.end(),
                                  [&](size_t i) { return explains(type, attempts[i], &state); });
    if (!fits) continue;
    bool equal = true;
    for (size_t i = 0; i < kIndexes; ++i) equal &= state[i].contents == after[i].contents;
    if (equal) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

Contents read_all(const Handle& handle) {
  Contents contents;
  Transaction txn;
  Read read = handle.next(txn);
  for (int i = 0; read.code == SUCCESS && i < kScanMax; ++i, read = handle.next(txn)) {
    contents[read.key].insert(read.payload);
  }
  txn.commit();
  return contents;
}

std::string describe(const std::vector<Attempt>& attempts, const State& after) {
  std::ostringstream out;
  for (const Attempt& attempt : attempts) {
    out << "\n  session " << attempt.session << (attempt.committed ? " committed" : " failed")
        << " [" << attempt.began << ", " << attempt.ended << "]:";
    for (const auto& [step, answer] : attempt.calls) {
      out << ' ' << (step.index == 0 ? "A." : "B.") << step.call << step.key << " -> " << answer
          << ';';
    }
  }
  for (size_t i = 0; i < kIndexes; ++i) {
    out << "\n  at the end " << (i == 0 ? "A:" : "B:");
    for (const auto& [key, payloads] : after[i].contents) {
      for (const std::string& payload : payloads)
        out << " (" << show(key) << ", " << payload << ")";
    }
  }
  return out.str();
}

Step parse_step(std::string_view text) {
  Step step{0, 0, ' ', false, 0, {}};
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    step.session = text[0] - '0';
    text.remove_prefix(colon + 1);
  }
  if (text.starts_with('@')) {
    step.auto_commit = true;
    text.remove_prefix(1);
  }
  if (text.starts_with("B.")) {
    step.index = 1;
    text.remove_prefix(2);
  }
  if (text[0] >= 'a' && text[0] <= 'z') {
    step.call = text[0];
    text.remove_prefix(1);
  }
  const size_t equals = text.find_first_of("=*");
  step.key = std::strtoll(std::string(text.substr(0, equals)).c_str(), nullptr, 10);
  if (equals != std::string_view::npos) step.payload = text.substr(equals + 1);
  return step;
}

}  // namespace

std::vector<Step> parse_script(std::string_view text) {
  std::vector<Step> steps;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) steps.push_back(parse_step(word));
  return steps;
}

std::string run_script(KeyType type, std::string_view setup, std::string_view script) {
  const std::array<const char*, kIndexes> names = {make_index(type), make_index(type)};
  const Handle a(names[0], type);
  const Handle b(names[1], type);
  State before;
  for (const Step& step : parse_script(setup)) {
    const Handle& handle = step.index == 0 ? a : b;
    const KeyValue key = handle.key(step.key);
    const ErrCode code = handle.insert(nullptr, key, step.payload);
    if (code != SUCCESS) return std::string("the setup failed with ") + code_name(code);
    before[static_cast<size_t>(step.index)].contents[key].insert(step.payload);
  }

  std::atomic<uint64_t> clock{0};
  std::map<int, std::unique_ptr<Session>> sessions;
  for (const Step& step : parse_script(script)) {
    auto& session = sessions[step.session];
    if (!session) session = std::make_unique<Session>(step.session, type, names, clock);
    const bool waits = !session->idle_within(std::chrono::milliseconds(0));
    session->post(step);
    if (!waits) session->idle_within(kPatience);
  }
  std::vector<Attempt> committed;
  std::vector<Attempt> all;
  for (auto& [number, session] : sessions) session->finish(script);
  for (auto& [number, session] : sessions) {
    for (const Attempt& attempt : session->attempts) {
      all.push_back(attempt);
      if (attempt.committed) committed.push_back(attempt);
    }
  }
  State after;
  after[0].contents = read_all(a);
  after[1].contents = read_all(b);
  if (some_order_explains(type, committed, before, after)) return {};
  return "no serial order explains this:" + describe(all, after);
}

}  // namespace keydrome
