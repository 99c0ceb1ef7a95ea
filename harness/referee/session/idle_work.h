// IdleWork: does work of the referee (this process) while a phase that is not timed runs. Its thread
// has the policy SCHED_IDLE, so it uses only processor time that no other program wants: the library
// and the player, the jailed process that calls it, always go first.
//
// Not thread-safe. Memory that the work uses must outlive the object.
#pragma once

#include <exception>
#include <functional>
#include <thread>

namespace keydrome {

class IdleWork {
 public:
  // Starts the work. If the system refuses to start a thread, finish() does the work.
  explicit IdleWork(std::function<void()> work);
  // Waits until the work has ended.
  ~IdleWork();
  IdleWork(const IdleWork&) = delete;
  IdleWork& operator=(const IdleWork&) = delete;

  // Gives the thread an ordinary priority and waits until the work has ended. An exception of the
  // work is thrown again by the first call; std::bad_alloc is one that happens.
  void finish();

 private:
  void join();

  std::function<void()> work_;
  std::exception_ptr failure_;  // written by the thread, read after join()
  bool done_ = false;           // the same
  std::thread thread_;
};

}  // namespace keydrome
