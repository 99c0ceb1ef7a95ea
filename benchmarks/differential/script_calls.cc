// Implements CallWriter: turns each call of a session (the API calls of one thread) into one
// operation of a program. The player, the process that calls the library, executes the program.
#include "benchmarks/differential/script_calls.h"

#include <algorithm>
#include <utility>

namespace keydrome::differential {

CallWriter::CallWriter(const Case& session, script::ScriptBuilder& script)
    : session_(session),
      script_(script),
      class_(script.add_class("session")),
      pool_keys_(session.keys.size(), 0),
      created_(session.indexes.size(), false),
      open_(format::kSlots, false) {
  for (uint32_t i = 0; i < session.indexes.size(); ++i) {
    const bool named = i < session.names.size();
    script.add_index(named ? session.names[i] : index_name(i), session.indexes[i]);
  }
  for (const std::string& text : session.texts) pool_texts_.push_back(script.add_text(text));
}

void CallWriter::phase(std::string name, std::span<const Call> calls) {
  const uint32_t phase = script_.add_phase(std::move(name), 1, {.timed = true, .recorded = true});
  script_.reserve(phase, calls.size());
  script::ThreadBuilder thread = script_.thread(phase, 0);
  thread.auto_commit_as(format::Kind::kScript, class_);
  bool in_transaction = false;
  for (const Call& call : calls) {
    const bool nothing_open = std::ranges::none_of(open_, [](bool open) { return open; });
    if (nothing_open && !in_transaction) thread.unit_start();
    if (call.kind == CallKind::kBegin) in_transaction = true;
    if (call.kind == CallKind::kCommit || call.kind == CallKind::kAbort) in_transaction = false;
    write(thread, call);
  }
}

void CallWriter::write(script::ThreadBuilder& thread, const Call& call) {
  const script::Payload payload{.tag = call.tag, .text = pool_texts_[call.text]};
  switch (call.kind) {
    case CallKind::kCreate:
      // A second create must fail. kAnyCode lets the thread continue after this failure.
      thread.create(call.index, created_[call.index] || reuses(call.index) ? format::kAnyCode : 0);
      created_[call.index] = true;
      return;
    case CallKind::kOpen:
      if (!created_[call.index]) return thread.open_missing(call.slot, call.index);
      open_[call.slot] = true;
      return thread.open(call.slot, call.index);
    case CallKind::kClose:
      open_[call.slot] = false;
      return thread.close(call.slot);
    case CallKind::kBegin:
      return thread.begin(format::Kind::kScript, class_);
    case CallKind::kCommit:
      return thread.commit();
    case CallKind::kAbort:
      return thread.abort();
    case CallKind::kGet:
      return thread.get(call.slot, pool_key(call));
    case CallKind::kNext:
      return thread.next(call.slot, 1);
    case CallKind::kInsert:
      return thread.insert(call.slot, pool_key(call), payload);
    case CallKind::kDeletePair:
      return thread.delete_pair(call.slot, pool_key(call), payload);
    case CallKind::kDeleteKey:
      return thread.delete_key(call.slot, pool_key(call));
  }
}

uint32_t CallWriter::pool_key(const Call& call) {
  uint32_t& number = pool_keys_[call.key];
  if (number > 0) return number - 1;
  const KeyValue& key = session_.keys[call.key];
  switch (session_.indexes[call.index]) {
    case SHORT:
      number = script_.add_int32_key(static_cast<int32_t>(key.number)) + 1;
      break;
    case INT:
      number = script_.add_int64_key(key.number) + 1;
      break;
    case VARCHAR:
      number = script_.add_varchar_key(key.text) + 1;
      break;
  }
  return number - 1;
}

script::Script script_of(const Case& session) {
  script::ScriptBuilder script;
  CallWriter(session, script).phase("calls", session.calls);
  return script.build();
}

}  // namespace keydrome::differential
