// Implements word_events.h: makes one event for each call of a thread. The end of an event is
// unknown until the thread's words contain a time again. All open events then end at this time.
#include "benchmarks/kit/script/word_events.h"

#include <algorithm>

#include "base/hash.h"
#include "benchmarks/kit/format/evidence_word.h"

namespace keydrome::script {

using history::Event;
using history::EventCall;

namespace {

uint8_t event_code(uint32_t code) {
  return code <= FAILURE ? static_cast<uint8_t>(code) : history::kEventUnknownCode;
}

uint32_t duration_of(uint64_t begin, uint64_t end) {
  return static_cast<uint32_t>(
      std::min<uint64_t>(end - std::min(begin, end), history::kEventLongDuration));
}

}  // namespace

// Adds an event that begins at the last known time. Its end is set by close().
void WordEvents::add(EventCall call, uint32_t code, uint32_t index, uint64_t key,
                     uint64_t payload) {
  Event event{};
  event.call = static_cast<uint8_t>(call);
  event.code = event_code(code);
  event.index = static_cast<uint16_t>(index);
  event.key = key;
  event.payload = payload;
  event.end = now_;  // stores the begin, until close() sets the end
  events_.push_back(event);
}

// Ends all open events at this time. All events of a transaction begin with the transaction.
void WordEvents::close(uint64_t now) {
  now = std::max(now, now_);
  for (; open_from_ < events_.size(); ++open_from_) {
    Event& event = events_[open_from_];
    const uint64_t begin = event.end - std::min(event.end, kTimeSlack);
    event.end = now;
    event.duration = duration_of(begin, now);
  }
  now_ = now;
}

// `ticks` is the time at which the first attempt began, so it may precede the end of a failed
// attempt. The event keeps this begin, because a later begin would claim more about the real-time
// order.
void WordEvents::begin(uint32_t code, uint64_t ticks) {
  const uint64_t begin = (go_ticks_ + ticks) >> kTimeShift;
  close(begin);
  add(EventCall::kBegin, code, 0, 0, 0);
  events_.back().end = std::min(begin, now_);
}

void WordEvents::end(EventCall call, uint32_t code, uint64_t ticks) {
  add(call, code, 0, 0, 0);
  close(unit_after(ticks));
}

void WordEvents::call(const FollowedCall& call) {
  const uint32_t code = format::code_of_word(call.word);
  const EventCall kind = call.call;
  uint64_t key = 0, payload = 0;
  switch (kind) {
    case EventCall::kGet:
      key = key_of(call);
      payload = code == SUCCESS ? format::tag_of_word(call.word) : 0;
      break;
    case EventCall::kNext:
      payload = code == SUCCESS ? format::tag_of_word(call.word) : 0;
      if (code == SUCCESS) unresolved_.push_back(static_cast<uint32_t>(events_.size()));
      break;
    case EventCall::kInsert:
    case EventCall::kDeletePair:
      if (call.op->code == format::OpCode::kDeleteRead) {
        payload = kept_tags_[call.op->slot];
        unresolved_.push_back(static_cast<uint32_t>(events_.size()));
        break;
      }
      key = key_of(call);
      payload = call.computed ? call.tag : call.op->argument;
      break;
    case EventCall::kDeleteKey:
      key = key_of(call);
      break;
    default:
      break;
  }
  add(kind, code, call.index, key, payload);
  if (kind != EventCall::kCreate) {
    events_.back().call |= handles_.after(kind, call.slot, call.index, code);
  }
  if (call.op != nullptr && (call.op->flags & format::kKeep) != 0 && code == SUCCESS) {
    kept_tags_[call.op->slot] = static_cast<uint32_t>(payload);
  }
  if (call.alone) events_.back().call |= history::kEventAutoCommit;
}

uint64_t WordEvents::key_of(const FollowedCall& call) const {
  const Pools& pools = script_.pools;
  if (call.computed && call.key_is_text) return call.key;
  switch (script_.indexes[call.index].type) {
    case SHORT:
      return call.computed ? call.key
                           : static_cast<uint64_t>(int64_t{pools.int32_keys[call.op->key]});
    case INT:
      return call.computed ? call.key : static_cast<uint64_t>(pools.int64_keys[call.op->key]);
    default:
      break;
  }
  // If the library changed the word, the number may be outside the pool, although no procedure
  // (list of instructions) can have computed such a number. The result is then a key that no call
  // inserts.
  const uint64_t number = call.computed ? call.key : call.op->key;
  return number < pools.varchar_keys.size() ? hash_bytes(pools.varchar_keys[number]) : ~number;
}

std::vector<Event> WordEvents::take() {
  close(ended_);
  return std::move(events_);
}

}  // namespace keydrome::script
