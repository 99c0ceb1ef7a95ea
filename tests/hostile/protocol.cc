// Attacks on the messages between player and referee, and on the memory that they share. The player
// is the process that calls the library, and the referee the process that times and judges. The
// attacks are cases D of the battery, the list of attacks in cases.json. Each function whose only
// parameter is a Where is one attack. The comment above an attack, or above a group of attacks,
// names its cases.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <span>
#include <vector>

#include "benchmarks/kit/format/control_word.h"
#include "benchmarks/kit/format/outcome.h"
#include "harness/protocol.h"
#include "tests/hostile/attack.h"
#include "tests/hostile/memory.h"

namespace hostile {
namespace {

using keydrome::kChannelFd;
using keydrome::Message;
using keydrome::MessageType;

void send_to_referee(const Message& message) {
  if (send(kChannelFd, &message, sizeof message, MSG_DONTWAIT) < 0) return;
}

// The memory to which the player writes the outcome of the phase. `bytes` is nullptr if it was not
// found.
struct Outcome {
  std::byte* bytes = nullptr;
  size_t size = 0;
};

Outcome find_outcome() {
  std::byte* const bytes = find_outcome_memory();
  required("the outcome is found", bytes != nullptr);
  if (bytes == nullptr) return {};
  const auto* header = reinterpret_cast<const keydrome::format::OutcomeHeader*>(bytes);
  const keydrome::format::OutcomeHeader::Span& last = header->spans[header->threads - 1];
  return {bytes, std::max(last.words_offset + last.words_capacity * sizeof(uint64_t),
                          last.trace_offset + last.trace_capacity)};
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

// D02b: sends DONE in the player's name, to end the phase early. The message has the right nonce,
// the random number of the phase.
void done_with_the_right_nonce(Where) { send_to_referee(done_now()); }

// D57: asks in the player's name, with the right nonce, for the next pieces of the program (the
// list of operations). The player's own request then comes too late.
void ask_for_pieces(Where) {
  constexpr uint32_t kPieces = 3;
  Message need = done_now();
  need.type = MessageType::kNeed;
  for (need.piece = 1; need.piece <= kPieces; ++need.piece) send_to_referee(need);
}

// D34: sends the reply of an earlier phase again.
void replay_an_old_answer(Where where) {
  static Message old;
  if (where == kCall) {
    old = done_now();
  } else {
    send_to_referee(old);
  }
}

// D35: floods the command channel with invalid messages.
void flood_the_channel(Where) {
  static Message noise;
  std::memset(&noise, 0x5a, sizeof noise);
  for (int i = 0; i < 10'000; ++i) send_to_referee(noise);
}

// D37, D37b, D37c: send messages that are too short, too long and empty.
void send_a_part(Where) {
  const Message message = done_now();
  if (send(kChannelFd, &message, 16, 0) < 0) return;
}

void send_too_much(Where) {
  std::vector<char> large(3 * sizeof(Message), '\2');
  if (send(kChannelFd, large.data(), large.size(), 0) < 0) return;
}

void send_nothing(Where) {
  if (send(kChannelFd, "", 0, 0) < 0) return;
}

// D36b: reports in the player's name that the player failed, with an unterminated text.
void blame_the_player(Where) {
  Message message = done_now();
  message.status = keydrome::kDonePlayer;
  std::memset(message.text, '\a', sizeof message.text);
  send_to_referee(message);
}

// D23: replaces the command channel by another file.
void replace_the_channel(Where) {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  required("replace the channel", null >= 0 && dup2(null, kChannelFd) == kChannelFd);
}

// D04b: closes the channel while the process lives.
void shut_the_channel(Where) { shutdown(kChannelFd, SHUT_RDWR); }

// D13, D13b, D13c: overwrite the outcome; replace all words (the results of calls) by the words of
// commits; look for descriptors with which the outcome or the operations could be resized or
// sealed.
void overwrite_the_outcome(Where) {
  const Outcome outcome = find_outcome();
  if (outcome.bytes == nullptr) return;
  std::memset(outcome.bytes + sizeof(keydrome::format::OutcomeHeader), 0xff,
              outcome.size - sizeof(keydrome::format::OutcomeHeader));
}

void forge_commits(Where) {
  const Outcome outcome = find_outcome();
  if (outcome.bytes == nullptr) return;
  const auto* header = reinterpret_cast<const keydrome::format::OutcomeHeader*>(outcome.bytes);
  constexpr uint64_t kCommit =
      keydrome::format::result_word(keydrome::format::ControlWord::kResult, 1, SUCCESS);
  for (uint32_t t = 0; t < header->threads; ++t) {
    const keydrome::format::OutcomeHeader::Span& span = header->spans[t];
    auto* words = reinterpret_cast<uint64_t*>(outcome.bytes + span.words_offset);
    for (uint64_t i = 0; i < span.words_capacity; ++i) {
      if (words[i] != 0) words[i] = kCommit;
    }
  }
}

void resize_the_outcome(Where) {
  for (int fd = kChannelFd + 1; fd < 64; ++fd)
    required("no memory of the referee has a descriptor", fcntl(fd, F_GET_SEALS) < 0);
}

// D52b: keeps data in the part of the outcome that the phase does not use. The control group of the
// referee is charged for this memory, so records that stay there would seem to need none. A library
// gains nothing if the memory is cleared between phases.
void keep_data_in_the_outcome(Where where) {
  constexpr auto kData = std::byte{0x5a};
  static std::span<std::byte> kept;
  const Outcome outcome = find_outcome();
  if (outcome.bytes == nullptr) return;
  std::byte* const unused = outcome.bytes + outcome.size;
  if (where == kCall) {
    kept = writable_zeros(unused);
    std::ranges::fill(kept, kData);
    return;
  }
  const std::span<std::byte> still(unused, std::max(unused, kept.data() + kept.size()));
  required("the largest phase is larger than this one", !still.empty());
  required("no data of an earlier phase is left", std::ranges::find(still, kData) == still.end());
}

// D13d: continues to write to the outcome after the phase has been judged.
void write_for_ever(Where) {
  const Outcome outcome = find_outcome();
  if (outcome.bytes == nullptr) return;
  auto* at = reinterpret_cast<volatile unsigned char*>(outcome.bytes + outcome.size - 1);
  for (;;) *at = *at;
}

// D14: searches memory for the seed, which must never enter the jail. The battery runs this case
// with the seed that this function searches for.
void scan_for_the_seed(Where) {
  constexpr uint64_t kMask = 0xa5a5a5a5a5a5a5a5;
  static volatile uint64_t masked = 0x5eed0000d014d014 ^ kMask;
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  required("the seed is not in memory", page != MAP_FAILED && count_in_memory(masked, kMask) == 0);
  auto* decoy = static_cast<volatile uint64_t*>(page);
  decoy[1] = masked ^ kMask;
  required("the search finds a decoy", count_in_memory(masked, kMask) == 1);
}

// D15: computes for 0.3 s before the first phase, and looks for the operations of the phases. The
// operations must not be in the process yet.
void precompute(Where) {
  timespec now{};
  do {
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  } while (now.tv_sec == 0 && now.tv_nsec < 300'000'000);
  required("no message GO yet", find_message(MessageType::kGo) == nullptr);
  for (int fd = 5; fd < 64; ++fd) required("no memfd yet", fcntl(fd, F_GETFD) < 0);
}

}  // namespace hostile
