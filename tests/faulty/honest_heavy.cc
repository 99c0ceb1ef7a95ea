// A correct library for tests that uses the same facilities as real libraries. It has threads of
// its own, thread_local destructors, condition variables, iostreams, internal exceptions, files in
// the working directory, and large and many allocations. It must pass without a warning.
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <future>
#include <iostream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "tests/faulty/honest.h"

namespace {

struct PerThread {
  std::vector<std::string> scratch = std::vector<std::string>(16, std::string(64, 'x'));
  ~PerThread() { scratch.clear(); }
};
thread_local PerThread per_thread;

// A background thread that counts the indexes, like the cleaner thread of a real library.
class Worker {
 public:
  ~Worker() {
    {
      const std::scoped_lock guard(lock_);
      stopping_ = true;
    }
    changed_.notify_all();
  }
  void add() {
    {
      const std::scoped_lock guard(lock_);
      ++wanted_;
    }
    changed_.notify_all();
    std::unique_lock guard(lock_);
    done_.wait(guard, [&] { return counted_ == wanted_; });
  }

 private:
  void run() {
    std::unique_lock guard(lock_);
    for (;;) {
      changed_.wait(guard, [&] { return stopping_ || counted_ != wanted_; });
      if (stopping_) return;
      counted_ = wanted_;
      done_.notify_all();
    }
  }

  std::mutex lock_;
  std::condition_variable changed_;
  std::condition_variable done_;
  int wanted_ = 0;
  int counted_ = 0;
  bool stopping_ = false;
  std::jthread thread_{[this] { run(); }};  // declared last, because it uses the members above
};

void throw_and_catch() {
  try {
    throw std::runtime_error("handled inside");
  } catch (const std::runtime_error& error) {
    std::clog << "honest_heavy: " << error.what() << '\n';
  }
}

// Each call has a file of its own: other threads may create an index of the same name.
bool write_and_read_a_file(const std::string& name) {
  static std::atomic<int> files{0};
  const std::string path = "heavy_" + std::to_string(files.fetch_add(1)) + "_" + name;
  std::ofstream(path) << "scratch " << name << '\n';
  std::string word;
  return (std::ifstream(path) >> word) && word == "scratch";
}

}  // namespace

extern "C" ErrCode create(KeyType type, char* name) {
  static Worker worker;
  worker.add();
  throw_and_catch();
  if (!write_and_read_a_file(name)) return FAILURE;
  const auto large = std::async(std::launch::async, [] {
                       std::vector<char> block(size_t{8} << 20, 'a');
                       return static_cast<uint64_t>(block[12345]) + per_thread.scratch.size();
                     }).get();
  std::cout << "honest_heavy: created an index, " << large << std::endl;
  return honest::create(type, name);
}

extern "C" ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  per_thread.scratch[static_cast<unsigned char>(payload[0]) % 16] = payload;
  const auto copy = std::make_unique<std::string>(payload);
  return honest::insertRecord(idxState, txn, k, copy->c_str());
}
