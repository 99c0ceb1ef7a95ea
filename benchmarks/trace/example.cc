// Implements example_text(), the trace that the benchmark "trace" plays if the user names no file.
// Writes the lines of each thread one after the other. A thread reads all keys, but commits changes
// only to keys of its own.
#include "benchmarks/trace/example.h"

#include <cstdint>
#include <vector>

#include "benchmarks/kit/workload/rng.h"

namespace keydrome::trace {
namespace {

constexpr uint64_t kSeed = 2009;
constexpr uint32_t kThreads = 4, kUsers = 2'000, kEvents = 2'000, kSteps = 1'500;

std::string user(uint64_t number) { return "user" + std::to_string(number); }

// Writes the lines of one thread.
class Thread {
 public:
  Thread(uint32_t number, std::string& text)
      : text_(text), number_(number), rng_(kSeed, number, workload::Purpose::kStream) {}

  void step() {
    const uint64_t percentile = rng_.below(100);
    if (percentile < 55) return read_page();
    if (percentile < 70) return add_event();
    if (percentile < 80) return rename_user();
    if (percentile < 85) return change_mind();
    if (percentile < 90) return drop_event();
    line("get users " + user(rng_.below(kUsers)));
  }

 private:
  void line(const std::string& call) { text_ += std::to_string(number_) + " " + call + "\n"; }

  void read_page() {
    line("begin");
    line("get users " + user(rng_.below(kUsers)));
    line("next users " + std::to_string(1 + rng_.below(20)));
    line("commit");
  }

  void add_event() {
    const uint64_t key = kEvents + added_.size() * kThreads + number_;
    added_.push_back(std::to_string(key) + " event%20" + std::to_string(key));
    line("insert events " + added_.back());
  }

  // An update deletes the record and inserts a new one in the same transaction.
  void rename_user() {
    const std::string key = user(rng_.below(kUsers / kThreads) * kThreads + number_);
    line("begin");
    line("delete users " + key);
    line("insert users " + key + " name-" + std::to_string(rng_.below(1'000'000'000)));
    line("commit");
  }

  void change_mind() {
    line("begin");
    line("get events " + std::to_string(rng_.below(kEvents)));
    line("insert events " + std::to_string(rng_.below(kEvents)) + " tentative");
    line("abort");
  }

  void drop_event() {
    if (dropped_ < added_.size()) line("delete events " + added_[dropped_++]);
  }

  std::string& text_;
  uint32_t number_;
  workload::Rng rng_;
  std::vector<std::string> added_;  // keys and payloads of the events that the thread has added
  std::size_t dropped_ = 0;         // events that it has deleted, the oldest first
};

}  // namespace

std::string example_text() {
  std::string text = "keydrome trace 1\nindex users varchar\nindex events int64\n";
  for (uint32_t i = 0; i < kUsers; ++i) text += "load users " + user(i) + "\n";
  for (uint32_t i = 0; i < kEvents; ++i) {
    text += "load events " + std::to_string(i) + " event%20" + std::to_string(i) + "\n";
  }
  for (uint32_t number = 0; number < kThreads; ++number) {
    Thread thread(number, text);
    for (uint32_t i = 0; i < kSteps; ++i) thread.step();
  }
  return text;
}

}  // namespace keydrome::trace
