// Implements Stage: one thread per actor, which waits for the next call from the test's thread.
#include "runtime/tests/stage.h"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <optional>
#include <sstream>

namespace keydrome::runtime {

using history::History;

struct Stage::Actor {
  Actor(Concurrency& concurrency, ClientIndexes indexes, std::atomic<uint64_t>& clock)
      : client(concurrency, indexes, [&clock] { return clock++; }) {}

  RecordedClient client;
  ErrCode result = SUCCESS;

  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Call> call;  // under mutex; none: idle
  bool over = false;         // under mutex
  std::thread thread;
};

Stage::Stage(Concurrency& concurrency, ClientIndexes indexes, size_t actors)
    : concurrency_(concurrency), indexes_(indexes) {
  for (size_t at = 0; at < actors; ++at) {
    actors_.push_back(std::make_unique<Actor>(concurrency, indexes, clock_));
    Actor& actor = *actors_.back();
    actor.thread = std::thread([this, &actor] { run(actor); });
  }
}

Stage::~Stage() {
  for (const std::unique_ptr<Actor>& actor : actors_) {
    {
      const std::lock_guard<std::mutex> guard(actor->mutex);
      actor->over = true;
      actor->changed.notify_all();
    }
    actor->thread.join();
  }
  actors_.clear();
}

void Stage::run(Actor& actor) {
  std::unique_lock<std::mutex> guard(actor.mutex);
  for (;;) {
    actor.changed.wait(guard, [&] { return actor.over || actor.call; });
    if (!actor.call) return;
    const Call call = *actor.call;
    guard.unlock();
    actor.result = actor.client.call(call);
    guard.lock();
    actor.call.reset();
    --busy_;
  }
}

void Stage::step(size_t number, const Call& call) {
  Actor& actor = *actors_[number];
  ++busy_;
  {
    const std::lock_guard<std::mutex> guard(actor.mutex);
    actor.call = call;
    actor.changed.notify_all();
  }
  settle();
}

// Returns when every busy actor waits for a lock. The function must read `busy_` before the lock
// manager's count, because a thread that ends another thread's wait first updates the count and
// then becomes idle.
void Stage::settle() {
  for (;;) {
    const uint64_t busy = busy_;
    if (busy == 0) return;
    const Json counted = concurrency_.statistics();
    const Json* waiting = counted.find("lock_waiting");
    if (waiting != nullptr && static_cast<uint64_t>(waiting->as_int()) == busy) return;
    std::this_thread::yield();
  }
}

bool Stage::waits(size_t number) {
  Actor& actor = *actors_[number];
  const std::lock_guard<std::mutex> guard(actor.mutex);
  return actor.call.has_value();
}

ErrCode Stage::result(size_t actor) const { return actors_[actor]->result; }

void Stage::play(const std::string& script) {
  std::vector<std::deque<Call>> queues(actors_.size());
  const auto hand_over = [&](size_t actor) {
    while (!queues[actor].empty() && !waits(actor)) {
      const Call call = queues[actor].front();
      queues[actor].pop_front();
      step(actor, call);
    }
  };
  std::istringstream words(script);
  for (std::string word; words >> word;) {
    const auto actor = static_cast<size_t>(word[0] - '0');
    queues[actor].push_back(parse_call(word.substr(2)));
    // Actors whose last call has returned in the meantime continue first.
    for (size_t other = 0; other < queues.size(); ++other) hand_over(other);
  }
  for (bool all_returned = false; !all_returned;) {
    all_returned = true;
    bool moved = false;
    for (size_t actor = 0; actor < queues.size(); ++actor) {
      moved = moved || (!queues[actor].empty() && !waits(actor));
      hand_over(actor);
      all_returned = all_returned && !waits(actor) && queues[actor].empty();
    }
    if (all_returned || moved) continue;
    std::fprintf(stderr,
                 "the actors of the script \"%s\" wait for ever: the script leaves a transaction "
                 "open, so end it in the script; or the concurrency control missed a deadlock\n",
                 script.c_str());
    std::abort();
  }
}

History Stage::history() const {
  std::vector<const RecordedClient*> clients;
  for (const std::unique_ptr<Actor>& actor : actors_) clients.push_back(&actor->client);
  return history_of(clients);
}

void Stage::scan_all(size_t actor) { actors_[actor]->client.scan_all(); }

}  // namespace keydrome::runtime
