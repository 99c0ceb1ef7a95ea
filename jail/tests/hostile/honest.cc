// Test program for the jail (a sandbox for one program): does what a well-behaved library does,
// such as threads, allocation, exceptions, streams, files and clocks. It runs under the jail's
// system call filter and under its second stage (jail/tighten.h). A failure here means that the
// jail would refuse harmless libraries.
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "jail/tighten.h"

namespace {

void check(bool holds, const char* what) {
  if (!holds) {
    std::cout << "FAILED " << what << ": " << std::strerror(errno) << std::endl;
    std::_Exit(1);
  }
}

std::atomic<int> destroyed{0};
struct Counted {
  ~Counted() { destroyed.fetch_add(1); }
  int value = 0;
};
thread_local Counted counted;

// Allocates and frees small and large blocks. For large blocks malloc uses mmap and mremap.
void allocate(unsigned seed) {
  std::minstd_rand random(seed);
  std::map<unsigned, std::string> blocks;
  for (int turn = 0; turn < 3000; turn++) {
    unsigned size = turn % 50 == 0 ? 300000 : static_cast<unsigned>(random()) % 2000;
    blocks[static_cast<unsigned>(random()) % 200].assign(size, 'x');
  }
  void* block = std::malloc(1 << 20);
  block = std::realloc(block, 16 << 20);
  check(block != nullptr, "realloc");
  std::free(block);
  counted.value++;
}

void throw_deep(int depth) {
  if (depth == 0) {
    throw std::runtime_error("deep");
  }
  throw_deep(depth - 1);
}

void exceptions() {
  for (int turn = 0; turn < 100; turn++) {
    try {
      throw_deep(20);
      check(false, "throw");
    } catch (const std::runtime_error& error) {
      check(std::string(error.what()) == "deep", "catch");
    }
  }
}

void threads() {
  constexpr int kThreads = 64;
  std::vector<std::thread> running;
  for (unsigned i = 0; i < kThreads; i++) {
    running.emplace_back([i] {
      allocate(i + 1);
      exceptions();
    });
  }
  for (std::thread& thread : running) {
    thread.join();
  }
  check(destroyed.load() == kThreads, "destructors of thread_local objects");
}

void ping_pong() {
  std::mutex mutex;
  std::condition_variable changed;
  int turn = 0;
  std::thread other([&] {
    std::unique_lock lock(mutex);
    for (int i = 0; i < 1000; i++) {
      changed.wait(lock, [&] { return turn % 2 == 1; });
      turn++;
      changed.notify_one();
    }
  });
  for (int i = 0; i < 1000; i++) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return turn % 2 == 0; });
    turn++;
    changed.notify_one();
  }
  other.join();
  check(turn == 2000, "ping-pong");
}

void* leave_by_pthread_exit(void*) {
  Counted unwound;
  pthread_exit(nullptr);
}

void unusual_exits() {
  int before = destroyed.load();
  pthread_t thread;
  check(pthread_create(&thread, nullptr, leave_by_pthread_exit, nullptr) == 0, "pthread_create");
  pthread_join(thread, nullptr);
  check(destroyed.load() == before + 1, "unwinding by pthread_exit");
  auto answer = std::async(std::launch::async, [] { return 42; });
  check(answer.get() == 42, "async");
}

void files() {
  std::ofstream("data") << "line " << 7 << '\n';
  std::ifstream input("data");
  std::string word;
  int number = 0;
  input >> word >> number;
  check(word == "line" && number == 7, "files in the working directory");
  check(std::filesystem::file_size("data") == 7 && std::filesystem::remove("data"), "filesystem");
  std::FILE* mapped = std::fopen("mapped", "w+");
  check(mapped && ftruncate(fileno(mapped), 1 << 16) == 0, "ftruncate");
  void* memory = mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(mapped), 0);
  check(memory != MAP_FAILED, "shared mapping of a file");
  std::memset(memory, 1, 1 << 16);
  check(msync(memory, 1 << 16, MS_SYNC) == 0 && munmap(memory, 1 << 16) == 0, "msync");
  std::fclose(mapped);
}

void machine() {
  // A program must be able to reserve much more address space than the machine has memory, because
  // many libraries do so.
  void* huge = mmap(nullptr, size_t{64} << 30, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  check(huge != MAP_FAILED && munmap(huge, size_t{64} << 30) == 0, "64 GiB of address space");
  cpu_set_t set;
  CPU_ZERO(&set);
  check(sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0, "affinity");
  check(sched_setaffinity(0, sizeof set, &set) == 0, "pinning");
  check(std::thread::hardware_concurrency() > 0, "number of processors");
  check(sysconf(_SC_NPROCESSORS_ONLN) > 0 && sysconf(_SC_PHYS_PAGES) > 0, "sysconf");
  std::random_device device;
  check(device() != device() || device() != device(), "random_device");
  auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  check(std::chrono::steady_clock::now() > start, "clock");
  check(isatty(STDOUT_FILENO) == 0 && errno == ENOTTY, "isatty");
}

}  // namespace

int main() {
  std::string reason(256, '\0');
  int layers = keydrome_tighten("/work", reason.data(), reason.size());
  check(layers > 0, reason.c_str());
  threads();
  ping_pong();
  unusual_exits();
  exceptions();
  files();
  machine();
  std::cout << "honest" << std::endl;
  return 0;
}
