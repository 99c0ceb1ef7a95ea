// D: what a library can do to the conversation between player and referee, and to what is handed
// over in it.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstring>
#include <ctime>
#include <vector>

#include "benchmarks/kit/outcome.h"
#include "harness/protocol.h"
#include "tests/hostile/attack.h"
#include "tests/hostile/memory.h"

namespace hostile {
namespace {

using keydrome::kControlFd;
using keydrome::Message;
using keydrome::MessageType;

void say(const Message& message) {
  if (send(kControlFd, &message, sizeof message, MSG_DONTWAIT) < 0) return;
}

// The writable memory of the phase, found among the descriptors that came with GO; empty: none.
struct Outcome {
  int fd = -1;
  std::byte* bytes = nullptr;
  size_t size = 0;
};

Outcome find_outcome() {
  for (int fd = kControlFd + 1; fd < 64; ++fd) {
    struct stat status{};
    const int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_WRITE) != 0 || fstat(fd, &status) != 0) continue;
    const auto size = static_cast<size_t>(status.st_size);
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory != MAP_FAILED) return {fd, static_cast<std::byte*>(memory), size};
  }
  required("the outcome is found", 0);
  return {};
}

Message done_now() {
  Message message{};
  const Message* go = find_message(MessageType::kGo);
  required("the message GO is found", go != nullptr);
  if (go != nullptr) message = *go;
  message.type = MessageType::kDone;
  message.status = 0;
  return message;
}

}  // namespace

// D02: stops the clock in the middle of the phase, with the nonce that the player was given.
void done_with_the_right_nonce(Where) { say(done_now()); }

// D34: the answer of the phase before.
void replay_an_old_answer(Where where) {
  static Message old;
  if (where == kCall) {
    old = done_now();
  } else {
    say(old);
  }
}

// D35
void flood_the_channel(Where) {
  static Message noise;
  std::memset(&noise, 0x5a, sizeof noise);
  for (int i = 0; i < 10'000; ++i) say(noise);
}

// D37, in three ways
void send_a_part(Where) {
  const Message message = done_now();
  if (send(kControlFd, &message, 16, 0) < 0) return;
}

void send_too_much(Where) {
  std::vector<char> large(3 * sizeof(Message), '\2');
  if (send(kControlFd, large.data(), large.size(), 0) < 0) return;
}

void send_nothing(Where) {
  if (send(kControlFd, "", 0, 0) < 0) return;
}

// D36 again: the player could not go on, it says; with a text that is not ended.
void blame_the_player(Where) {
  Message message = done_now();
  message.status = keydrome::kDonePlayer;
  std::memset(message.text, '\a', sizeof message.text);
  say(message);
}

// D23
void replace_the_channel(Where) {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  required("null", null >= 0 && dup2(null, kControlFd) == kControlFd);
}

// D04 again: nobody is there any more, though the process is.
void shut_the_channel(Where) { shutdown(kControlFd, SHUT_RDWR); }

// D13, in three ways
void overwrite_the_outcome(Where) {
  const Outcome outcome = find_outcome();
  if (outcome.bytes == nullptr) return;
  std::memset(outcome.bytes + sizeof(keydrome::OutcomeHeader), 0xff,
              outcome.size - sizeof(keydrome::OutcomeHeader));
}

void count_more(Where) {
  const Outcome outcome = find_outcome();
  if (outcome.bytes == nullptr) return;
  const auto* header = reinterpret_cast<const keydrome::OutcomeHeader*>(outcome.bytes);
  auto* threads = reinterpret_cast<keydrome::ThreadOutcome*>(outcome.bytes + header->thread_offset);
  for (uint32_t t = 0; t < header->threads; ++t) threads[t].committed[0] += 1000;
}

void resize_the_outcome(Where) {
  const Outcome outcome = find_outcome();
  const auto end = static_cast<off_t>(outcome.size);
  refused("shrink", ftruncate(outcome.fd, 0), EPERM);
  refused("grow", ftruncate(outcome.fd, end + 4096), EPERM);
  refused("grow by writing", pwrite(outcome.fd, "x", 1, end), EPERM);
  refused("seal", fcntl(outcome.fd, F_ADD_SEALS, F_SEAL_WRITE), EPERM);
}

// D17 of the list is stray_thread; this one goes on writing after the phase has been judged.
void write_for_ever(Where) {
  const Outcome outcome = find_outcome();
  if (outcome.bytes == nullptr) return;
  auto* at = reinterpret_cast<volatile unsigned char*>(outcome.bytes + outcome.size - 1);
  for (;;) *at = *at;
}

// D14: seed, generator and answers never enter the jail. The battery gives the run this seed.
void scan_for_the_seed(Where) {
  constexpr uint64_t kMask = 0xa5a5a5a5a5a5a5a5;
  static volatile uint64_t masked = 0x5eed0000d014d014 ^ kMask;
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  required("memory", page != MAP_FAILED && count_in_memory(masked, kMask) == 0);
  auto* decoy = static_cast<volatile uint64_t*>(page);
  decoy[1] = masked ^ kMask;
  required("what is there is found", count_in_memory(masked, kMask) == 1);
}

// D15: a third of a second of work before the clock runs, and nothing to do it with.
void precompute(Where) {
  timespec now{};
  do {
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  } while (now.tv_sec == 0 && now.tv_nsec < 300'000'000);
  required("no phase yet", find_message(MessageType::kGo) == nullptr);
  for (int fd = 5; fd < 64; ++fd) required("nothing handed over", fcntl(fd, F_GETFD) < 0);
}

}  // namespace hostile
