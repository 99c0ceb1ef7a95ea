// IdleWork: does work of the referee (this process) while other processes work. Its thread has the
// policy SCHED_IDLE, so it uses only processor time that no other program wants: the library and
// the player, the jailed process that calls it, always go first.
//
// Not thread-safe. Memory that the work uses must outlive the object.
#pragma once

#include <exception>
#include <functional>
#include <latch>
#include <thread>
#include <utility>

namespace keydrome {

class IdleWork {
 public:
  // `work` is called at most once. It may be empty; then nothing is done.
  explicit IdleWork(std::function<void()> work) : work_(std::move(work)) {}
  // Waits until the work has ended.
  ~IdleWork();
  IdleWork(const IdleWork&) = delete;
  IdleWork& operator=(const IdleWork&) = delete;

  // Starts the work, if it has not been started.
  void start();
  // If the work has been started, gives its thread an ordinary priority and waits until the work
  // has ended. If the system refused to start a thread, does the work itself. If the work has
  // thrown an exception, such as std::bad_alloc, the first call of finish() throws it again.
  void finish();

 private:
  void join();

  std::function<void()> work_;
  std::latch priority_set_{1};  // until start() has set the priority, the thread waits
  std::exception_ptr failure_;  // written by the thread, read after join()
  bool started_ = false;
  bool done_ = false;  // written by the thread, read after join()
  std::thread thread_;
};

}  // namespace keydrome
