#include "runtime/tests/stage.h"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <optional>
#include <sstream>

namespace keydrome::runtime {

struct Stage::Session {
  Session(Control& control, ClientIndexes indexes, std::atomic<uint64_t>& clock)
      : client(control, indexes, [&clock] { return clock++; }) {}

  Client client;
  ErrCode answer = SUCCESS;

  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Call> call;  // under mutex; none: idle
  bool over = false;         // under mutex
  std::thread thread;
};

Stage::Stage(Control& control, ClientIndexes indexes, size_t sessions)
    : control_(control), indexes_(indexes) {
  for (Index* index : indexes_) index->pin();
  for (size_t at = 0; at < sessions; ++at) {
    sessions_.push_back(std::make_unique<Session>(control, indexes, clock_));
    Session& session = *sessions_.back();
    session.thread = std::thread([this, &session] { run(session); });
  }
}

Stage::~Stage() {
  for (const std::unique_ptr<Session>& session : sessions_) {
    {
      const std::lock_guard<std::mutex> guard(session->mutex);
      session->over = true;
      session->changed.notify_all();
    }
    session->thread.join();
  }
  sessions_.clear();
  for (Index* index : indexes_) index->unpin();
}

void Stage::run(Session& session) {
  std::unique_lock<std::mutex> guard(session.mutex);
  for (;;) {
    session.changed.wait(guard, [&] { return session.over || session.call; });
    if (!session.call) return;
    const Call call = *session.call;
    guard.unlock();
    session.answer = session.client.call(call);
    guard.lock();
    session.call.reset();
    --busy_;
  }
}

void Stage::step(size_t number, const Call& call) {
  Session& session = *sessions_[number];
  ++busy_;
  {
    const std::lock_guard<std::mutex> guard(session.mutex);
    session.call = call;
    session.changed.notify_all();
  }
  settle();
}

// Until every session that is busy waits for a lock. `busy_` is read first: who ends a wait has
// counted that before it is idle.
void Stage::settle() {
  for (;;) {
    const uint64_t busy = busy_;
    if (busy == 0) return;
    const Json counted = control_.statistics();
    const Json* waiting = counted.find("lock_waiting");
    if (waiting != nullptr && static_cast<uint64_t>(waiting->as_int()) == busy) return;
    std::this_thread::yield();
  }
}

bool Stage::waits(size_t number) {
  Session& session = *sessions_[number];
  const std::lock_guard<std::mutex> guard(session.mutex);
  return session.call.has_value();
}

ErrCode Stage::answer(size_t session) const { return sessions_[session]->answer; }

void Stage::play(const std::string& script) {
  std::vector<std::deque<Call>> queues(sessions_.size());
  const auto hand_over = [&](size_t session) {
    while (!queues[session].empty() && !waits(session)) {
      const Call call = queues[session].front();
      queues[session].pop_front();
      step(session, call);
    }
  };
  std::istringstream words(script);
  for (std::string word; words >> word;) {
    const auto session = static_cast<size_t>(word[0] - '0');
    queues[session].push_back(parse_call(word.substr(2)));
    // Whoever came back meanwhile goes first.
    for (size_t other = 0; other < queues.size(); ++other) hand_over(other);
  }
  for (bool all_back = false; !all_back;) {
    all_back = true;
    bool moved = false;
    for (size_t session = 0; session < queues.size(); ++session) {
      moved = moved || (!queues[session].empty() && !waits(session));
      hand_over(session);
      all_back = all_back && !waits(session) && queues[session].empty();
    }
    if (all_back || moved) continue;
    std::fprintf(stderr, "sessions wait for ever in \"%s\"\n", script.c_str());
    std::abort();
  }
}

History Stage::history() const {
  std::vector<const Client*> clients;
  for (const std::unique_ptr<Session>& session : sessions_) clients.push_back(&session->client);
  return history_of(clients);
}

void Stage::scan_all(size_t session) { sessions_[session]->client.scan_all(); }

}  // namespace keydrome::runtime
