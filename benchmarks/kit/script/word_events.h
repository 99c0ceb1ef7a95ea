// WordEvents: turns the words of a thread into the events of a history (checker/history/event.h).
// A word is the 8 bytes in which every call leaves its result or time (format/control_word.h). So
// the checker can certify runs in which the player, the process that calls the library, writes no
// log. To certify a run is to prove that some serial order of its transactions gives all results.
//
// Words have times only where transactions and some auto-commit ops (operations) begin and end. The
// player reads these times without fences, so the processor may reorder the read with other
// instructions. Therefore the events claim less about real time than those of a log:
//   - A call inside a transaction lasts as long as the transaction.
//   - An auto-commit call without times lasts from the last known time before the call to the next
//     known time after it.
//   - Every event begins kTimeSlack earlier than its word says. The processor may read its clock
//     before earlier stores are visible, or after loads of the next call. A stale read, which
//     misses a record committed before, is therefore not found if the record is younger than
//     kTimeSlack.
// Times are in units of 2^kTimeShift ticks, because an event can last at most 2^32 units.
//
// The payload of an event is the payload's tag. A word does not contain the key that getNext
// returned. The caller must set this key (take_unresolved()). It is the key of the insert with the
// same tag, which may be an insert of another thread.
//
// Not thread-safe; one object per thread.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "benchmarks/kit/format/handle_numbers.h"
#include "benchmarks/kit/script/script.h"
#include "benchmarks/kit/script/word_follower.h"
#include "checker/history/event.h"

namespace keydrome::script {

inline constexpr uint32_t kTimeShift = 8;
// In units of time: 16,384 ticks, 5 to 8 us. Reordering changes a time by less than a microsecond.
inline constexpr uint64_t kTimeSlack = 16'384 >> kTimeShift;

class WordEvents : public CallObserver {
 public:
  // `go_ticks` is the time of GO, the start of the phase. `ended_ticks` is the time after GO at
  // which the thread ended.
  WordEvents(const Script& script, uint64_t go_ticks, uint64_t ended_ticks)
      : script_(script),
        go_ticks_(go_ticks),
        now_(go_ticks >> kTimeShift),
        ended_(unit_after(ended_ticks)) {}

  void time(uint64_t ticks) override { close(unit_after(ticks)); }
  void begin(uint32_t code, uint64_t ticks) override;
  void end(history::EventCall call, uint32_t code, uint64_t ticks) override;
  void call(const FollowedCall& call) override;

  // Ends the thread. Returns all events; call it once.
  std::vector<history::Event> take();
  // Returns the positions of the events whose keys the caller must set: each is the key of the
  // insert with the same payload.
  std::vector<uint32_t> take_unresolved() { return std::move(unresolved_); }

 private:
  void add(history::EventCall call, uint32_t code, uint32_t index, uint64_t key, uint64_t payload);
  void close(uint64_t now);
  uint64_t key_of(const FollowedCall& call) const;

  // Returns the first unit of time that begins at these ticks after GO or later.
  uint64_t unit_after(uint64_t ticks) const {
    return (go_ticks_ + ticks + (1u << kTimeShift) - 1) >> kTimeShift;
  }

  const Script& script_;
  const uint64_t go_ticks_;
  uint64_t now_;  // the last known time
  const uint64_t ended_;
  std::size_t open_from_ = 0;  // the first event whose end is unknown
  std::vector<history::Event> events_;
  std::vector<uint32_t> unresolved_;
  format::HandleNumbers handles_;
  std::array<uint32_t, format::kSlots> kept_tags_{};  // tag that each slot's last kKeep read found
};

}  // namespace keydrome::script
