// Implements TraceParser: splits each line into fields, and checks them from left to right.
#include "benchmarks/kit/workload/trace_file/trace_parser.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/hash.h"
#include "benchmarks/kit/workload/files/input_file.h"

namespace keydrome::workload {
namespace {

constexpr std::string_view kFormat = "1";
constexpr const char* kHeader = "keydrome trace 1";
constexpr std::array kTypes = {SHORT, INT, VARCHAR};
// The string keys of stripes (extra transactions that check the library) begin with this character.
constexpr char kFirstOfChecks = '!';

// Returns the value of a hexadecimal digit, or -1.
int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

bool is_control(char byte) {
  return (static_cast<unsigned char>(byte) < ' ' && byte != '\t') || byte == '\x7f';
}

bool is_word(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

std::string quoted(std::string_view text) { return "\"" + std::string(text.substr(0, 40)) + "\""; }

uint64_t key_bytes(const TraceFile& trace, KeyType type, uint32_t key) {
  if (type == VARCHAR) return trace.varchar_keys[key].size();
  return type == INT ? sizeof(int64_t) : sizeof(int32_t);
}

}  // namespace

struct TraceParser::Operation {
  using What = TraceCall::What;
  std::string_view name;
  What what;
  std::size_t least, most;  // fields of the line
  const char* form;
};

const std::array<TraceParser::Operation, 7> TraceParser::kOperations = {{
    {"get", TraceCall::What::kGet, 4, 4, "THREAD get INDEX KEY"},
    {"next", TraceCall::What::kNext, 4, 4, "THREAD next INDEX COUNT"},
    {"insert", TraceCall::What::kInsert, 4, 5, "THREAD insert INDEX KEY [PAYLOAD]"},
    {"delete", TraceCall::What::kDeleteKey, 4, 5, "THREAD delete INDEX KEY [PAYLOAD]"},
    {"begin", TraceCall::What::kBegin, 2, 2, "THREAD begin"},
    {"commit", TraceCall::What::kCommit, 2, 2, "THREAD commit"},
    {"abort", TraceCall::What::kAbort, 2, 2, "THREAD abort"},
}};

Error TraceParser::fault(uint64_t column, const std::string& what) const {
  return at_line(name_, line_, column, what);
}

Error TraceParser::fault(const Field& field, const std::string& what) const {
  return fault(field.column, what);
}

Result<void> TraceParser::add_line(std::string_view text) {
  if (++line_ > kTraceLinesMax) {
    return fault(1, "a trace has at most " + std::to_string(kTraceLinesMax) + " lines: shorten it");
  }
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (const Result<void> fine = split(text); !fine) return fine;
  if (fields_.empty() || fields_[0].text.front() == '#') return {};
  if (!has_header_) return read_header();
  if (fields_[0].text == "index") return read_index();
  if (fields_[0].text == "load") return read_load();
  return read_call();
}

// Splits the line into fields_.
Result<void> TraceParser::split(std::string_view text) {
  fields_.clear();
  if (text.size() > kTraceLineBytesMax) {
    return fault(kTraceLineBytesMax + 1,
                 "the line has more than " + std::to_string(kTraceLineBytesMax) +
                     " bytes, which is the limit: check that this file is a trace");
  }
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == ' ' || text[at] == '\t') {
      ++at;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    fields_.push_back({.text = text.substr(at, end - at), .column = at + 1});
    at = end;
  }
  const auto control = std::ranges::find_if(text, is_control);
  if (control == text.end()) return {};
  return fault(static_cast<uint64_t>(control - text.begin()) + 1,
               "the line contains a control character: write it as % and two hexadecimal digits");
}

Result<void> TraceParser::expect_fields(std::size_t least, std::size_t most,
                                        const char* form) const {
  if (fields_.size() > most) {
    return fault(fields_[most], std::string("the line continues after ") + form +
                                    ": remove the rest, or write a blank in key or payload as %20");
  }
  if (fields_.size() >= least) return {};
  const Field& last = fields_.back();
  return fault(last.column + last.text.size(),
               std::string("the line is incomplete: write ") + form);
}

// Replaces each % and two hexadecimal digits by the byte that they mean.
Result<std::string_view> TraceParser::decoded(const Field& field, std::size_t bytes_max,
                                              const char* what) {
  decoded_.clear();
  for (std::size_t at = 0; at < field.text.size(); ++at) {
    char byte = field.text[at];
    if (byte == '%') {
      const int high = at + 2 < field.text.size() ? hex_value(field.text[at + 1]) : -1;
      const int low = high < 0 ? -1 : hex_value(field.text[at + 2]);
      if (low < 0) {
        return fault(field.column + at,
                     "two hexadecimal digits must follow %: write the character % itself as %25");
      }
      byte = static_cast<char>(high << 4 | low);
      if (byte == 0) {
        return fault(field.column + at,
                     std::string("the ") + what +
                         " contains a zero byte, which ends a string in C: remove this byte");
      }
      at += 2;
    }
    decoded_ += byte;
  }
  if (decoded_.size() <= bytes_max) return std::string_view(decoded_);
  return fault(field, std::string("the ") + what + " has " + std::to_string(decoded_.size()) +
                          " bytes, but may have at most " + std::to_string(bytes_max) +
                          ": shorten it");
}

Result<int64_t> TraceParser::number(const Field& field, int64_t least, int64_t most,
                                    const char* what) const {
  int64_t value = 0;
  const char* const end = field.text.data() + field.text.size();
  const auto [stop, error] = std::from_chars(field.text.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) {
    return fault(field, std::string(what) + " is " + quoted(field.text) +
                            ", but must be an integer in decimal digits");
  }
  if (error == std::errc() && value >= least && value <= most) return value;
  return fault(field, std::string(what) + " is " + quoted(field.text) + ", but must be from " +
                          std::to_string(least) + " to " + std::to_string(most));
}

Result<void> TraceParser::read_header() {
  if (fields_.size() < 2 || fields_[0].text != "keydrome" || fields_[1].text != "trace") {
    return fault(fields_[0],
                 std::string("a trace must begin with the line `") + kHeader + "`: add this line");
  }
  if (const Result<void> fine = expect_fields(3, 3, kHeader); !fine) return fine;
  if (fields_[2].text != kFormat) {
    return fault(fields_[2], "the version is " + quoted(fields_[2].text) +
                                 ", but only version 1 can be read: write " + kHeader);
  }
  has_header_ = true;
  return {};
}

Result<void> TraceParser::read_index() {
  if (const Result<void> fine = expect_fields(3, 3, "index NAME TYPE"); !fine) return fine;
  const Field &name = fields_[1], &type = fields_[2];
  if (!trace_.pairs.empty() || !trace_.threads.empty()) {
    return fault(fields_[0],
                 "the lines with index must precede the lines with load and the calls: move this "
                 "line up");
  }
  if (trace_.indexes.size() == kTraceIndexesMax) {
    return fault(fields_[0], "a trace has at most " + std::to_string(kTraceIndexesMax) +
                                 " indexes: leave this line out");
  }
  if (name.text.size() > kTraceNameBytesMax || !is_word(name.text)) {
    return fault(name, "the name of the index is " + quoted(name.text) + ", but must be 1 to " +
                           std::to_string(kTraceNameBytesMax) + " letters, digits or underscores");
  }
  for (std::size_t i = 0; i < trace_.indexes.size(); ++i) {
    if (trace_.indexes[i].name != name.text) continue;
    return fault(name, "the index " + quoted(name.text) + " is also declared in line " +
                           std::to_string(index_lines_[i]) + ": leave one of the two lines out");
  }
  const auto* const found = std::ranges::find(kTypes, type.text, trace_type_name);
  if (found == kTypes.end()) {
    return fault(type, "the type of the keys is " + quoted(type.text) +
                           ", but must be int32, int64 or varchar");
  }
  trace_.indexes.push_back({.name = std::string(name.text), .type = *found});
  index_lines_.push_back(line_);
  has_key_.push_back(false);
  return {};
}

Result<void> TraceParser::read_load() {
  if (const Result<void> fine = expect_fields(3, 4, "load INDEX KEY [PAYLOAD]"); !fine) return fine;
  if (!trace_.threads.empty()) {
    return fault(fields_[0], "the lines with load must precede the first call: move this line up");
  }
  const Result<uint8_t> index = index_of(fields_[1]);
  if (!index) return index.error();
  const Result<uint32_t> key = key_of(fields_[2], *index);
  if (!key) return key.error();
  const Result<uint32_t> pair = pair_of(*index, *key, fields_.size() > 3 ? &fields_[3] : nullptr);
  if (!pair) return pair.error();
  if (trace_.pairs[*pair].inserts > 0) {
    return fault(fields_[0],
                 "an earlier line loads the same key with the same payload: leave this line out");
  }
  count_insert(*pair);
  trace_.load.push_back(
      {.what = TraceCall::What::kInsert, .index = *index, .key = *key, .pair = *pair});
  return {};
}

Result<void> TraceParser::read_call() {
  if (fields_.size() < 2) {
    return fault(fields_[0],
                 "the line has only one word: write a call such as `0 begin`, or a line that "
                 "begins with index or load");
  }
  uint32_t number_of_thread = 0;
  const Result<Thread*> thread = thread_of(fields_[0], number_of_thread);
  if (!thread) return thread.error();
  const auto* const found = std::ranges::find(kOperations, fields_[1].text, &Operation::name);
  if (found == kOperations.end()) {
    return fault(fields_[1], "the operation is " + quoted(fields_[1].text) +
                                 ", but must be get, next, insert, delete, begin, commit or abort");
  }
  if (const Result<void> fine = expect_fields(found->least, found->most, found->form); !fine) {
    return fine;
  }
  if (const Result<void> fine = check_place(*found, **thread, number_of_thread); !fine) return fine;
  TraceCall call{.what = found->what};
  if (const Result<void> fine = read_operands(*found, call); !fine) return fine;
  count(call, **thread);
  trace_.threads[number_of_thread].push_back(call);
  return {};
}

// Returns the thread whose number is in the field. Adds the thread if it is new.
Result<TraceParser::Thread*> TraceParser::thread_of(const Field& field,
                                                    uint32_t& number_of_thread) {
  const Result<int64_t> value =
      number(field, 0, format::kThreadsMax - 1, "the number of the thread");
  if (!value) return value.error();
  number_of_thread = static_cast<uint32_t>(*value);
  if (number_of_thread >= threads_.size()) {
    threads_.resize(number_of_thread + 1);
    trace_.threads.resize(number_of_thread + 1);
  }
  Thread& thread = threads_[number_of_thread];
  if (thread.first_line == 0) thread.first_line = line_;
  return &thread;
}

// Checks that the operation is possible here: inside or outside of a transaction.
Result<void> TraceParser::check_place(const Operation& operation, const Thread& thread,
                                      uint32_t number_of_thread) const {
  const std::string name = "thread " + std::to_string(number_of_thread);
  const bool is_open = thread.begin_line != 0;
  const Field& field = fields_[1];
  switch (operation.what) {
    case TraceCall::What::kBegin:
      if (!is_open) return {};
      return fault(field, name + " has had a transaction open since line " +
                              std::to_string(thread.begin_line) +
                              ": add commit or abort before this line");
    case TraceCall::What::kCommit:
    case TraceCall::What::kAbort:
      if (is_open) return {};
      return fault(field, name + " has no open transaction: add begin before this line");
    case TraceCall::What::kNext:
      if (!is_open) {
        return fault(field,
                     "next needs a transaction, because a call outside a transaction has no "
                     "cursor: add lines with begin and commit");
      }
      break;
    default:
      break;
  }
  if (!is_open || thread.lines < kTraceTransactionMax) return {};
  return fault(field, "a transaction has at most " + std::to_string(kTraceTransactionMax) +
                          " lines: end this transaction earlier");
}

Result<void> TraceParser::read_operands(const Operation& operation, TraceCall& call) {
  if (operation.most == 2) return {};
  const Result<uint8_t> index = index_of(fields_[2]);
  if (!index) return index.error();
  call.index = *index;
  if (call.what == TraceCall::What::kNext) {
    const Result<int64_t> calls =
        number(fields_[3], 1, static_cast<int64_t>(kTraceNextMax), "the number of calls");
    if (!calls) return calls.error();
    call.key = static_cast<uint32_t>(*calls);
    return {};
  }
  const Result<uint32_t> key = key_of(fields_[3], *index);
  if (!key) return key.error();
  call.key = *key;
  const Field* const payload = fields_.size() > 4 ? &fields_[4] : nullptr;
  const bool deletes_key = call.what == TraceCall::What::kDeleteKey && payload == nullptr;
  if (call.what == TraceCall::What::kGet || deletes_key) return {};
  const Result<uint32_t> pair = pair_of(*index, *key, payload);
  if (!pair) return pair.error();
  call.pair = *pair;
  if (call.what == TraceCall::What::kInsert) {
    count_insert(*pair);
  } else {
    call.what = TraceCall::What::kDeletePair;
  }
  return {};
}

void TraceParser::count(const TraceCall& call, Thread& thread) {
  TraceCounts& counts = trace_.counts;
  switch (call.what) {
    case TraceCall::What::kBegin:
      ++counts.transactions;
      thread.begin_line = line_;
      thread.lines = 0;
      return;
    case TraceCall::What::kCommit:
    case TraceCall::What::kAbort:
      thread.begin_line = 0;
      return;
    case TraceCall::What::kGet:
      ++counts.gets;
      break;
    case TraceCall::What::kNext:
      counts.next_calls += call.key;
      break;
    case TraceCall::What::kInsert:
      ++counts.inserts;
      break;
    default:
      ++counts.deletes;
  }
  ++(thread.begin_line == 0 ? counts.single_calls : counts.lines);
  ++thread.lines;
}

Result<uint8_t> TraceParser::index_of(const Field& field) const {
  const auto found = std::ranges::find(trace_.indexes, field.text, &TraceFile::Index::name);
  if (found != trace_.indexes.end()) return static_cast<uint8_t>(found - trace_.indexes.begin());
  return fault(field, "there is no index " + quoted(field.text) +
                          ": add a line such as `index a int64` at the beginning of the trace");
}

// Returns the number of the key in the field. Adds the key if it is new.
Result<uint32_t> TraceParser::key_of(const Field& field, uint8_t index) {
  const KeyType type = trace_.indexes[index].type;
  has_key_[index] = true;
  if (type == VARCHAR) {
    const Result<std::string_view> text = decoded(field, MAX_VARCHAR_LEN, "key");
    if (!text) return text.error();
    if (text->front() == kFirstOfChecks) {
      return fault(field,
                   "the key begins with !, which is reserved for keys of Keydrome's own checks: "
                   "change this character");
    }
    return string_number(field, *text, trace_.varchar_keys, key_numbers_[VARCHAR], "keys");
  }
  const Result<int64_t> value =
      number(field, 0, type == INT ? INT64_MAX : INT32_MAX, "the integer key");
  if (!value) return value.error();
  const uint64_t hash = hash_mix(static_cast<uint64_t>(*value), 0x9e3779b97f4a7c15u);
  const uint32_t next = trace_.keys_of(type);
  const uint32_t key = key_numbers_[type].find_or_add(hash, next, [&](uint32_t known) {
    return type == INT ? trace_.int64_keys[known] == *value : trace_.int32_keys[known] == *value;
  });
  if (key != next) return key;
  if (type == INT) {
    trace_.int64_keys.push_back(*value);
  } else {
    trace_.int32_keys.push_back(static_cast<int32_t>(*value));
  }
  return key;
}

// Returns the number of a string in its pool. Adds the string if it is new.
Result<uint32_t> TraceParser::string_number(const Field& field, std::string_view text,
                                            script::Strings& pool, NumberTable& table,
                                            const char* what) {
  const auto next = static_cast<uint32_t>(pool.size());
  const uint32_t known = table.find_or_add(
      hash_bytes(text), next, [&](uint32_t candidate) { return pool[candidate] == text; });
  if (known != next) return known;
  if (pool.bytes().size() + text.size() > kTraceStringBytesMax) {
    return fault(field, std::string("the different ") + what + " of a trace have at most " +
                            std::to_string(kTraceStringBytesMax) +
                            " bytes together, and this line exceeds the limit: use fewer or "
                            "shorter " +
                            what);
  }
  return pool.add(text);
}

// Returns the number of a pair. Adds the pair if it is new. A line without a payload always gets a
// new pair.
Result<uint32_t> TraceParser::pair_of(uint8_t index, uint32_t key, const Field* payload) {
  TracePair pair{.index = index, .key = key};
  const auto next = static_cast<uint32_t>(trace_.pairs.size());
  uint64_t payload_bytes = 0;
  if (payload != nullptr) {
    const Result<std::string_view> text = decoded(*payload, MAX_PAYLOAD_LEN, "payload");
    if (!text) return text.error();
    payload_bytes = text->size();
    const Result<uint32_t> number_of_text =
        string_number(*payload, *text, trace_.payloads, payload_numbers_, "payloads");
    if (!number_of_text) return number_of_text.error();
    pair.text = *number_of_text;
    const uint64_t place = uint64_t{pair.key} << 32 | pair.text;
    const uint32_t known =
        pair_numbers_.find_or_add(hash_mix(place, pair.index), next, [&](uint32_t candidate) {
          const TracePair& other = trace_.pairs[candidate];
          return other.index == pair.index && other.key == pair.key && other.text == pair.text;
        });
    if (known != next) return known;
  }
  const uint64_t bytes = key_bytes(trace_, trace_.indexes[index].type, key) +
                         std::max<uint64_t>(payload_bytes, format::kTagBytes);
  trace_.counts.record_bytes += bytes;
  trace_.counts.longest_bytes = std::max(trace_.counts.longest_bytes, bytes);
  trace_.pairs.push_back(pair);
  return next;
}

void TraceParser::count_insert(uint32_t pair) {
  TracePair& inserted = trace_.pairs[pair];
  ++inserted.inserts;
  std::vector<bool>& stored = is_stored_[trace_.indexes[inserted.index].type];
  if (inserted.key >= stored.size())
    stored.resize(std::max<std::size_t>(2 * stored.size(), inserted.key + std::size_t{1}));
  if (stored[inserted.key]) return;
  stored[inserted.key] = true;
  ++trace_.counts.stored_keys;
}

Result<void> TraceParser::check_indexes() const {
  if (!has_header_) {
    return at_line(
        name_, 1, 1,
        std::string("a trace must begin with the line `") + kHeader + "`: add this line");
  }
  for (std::size_t i = 0; i < trace_.indexes.size(); ++i) {
    if (has_key_[i]) continue;
    return at_line(name_, index_lines_[i], 1,
                   "index " + trace_.indexes[i].name +
                       " is used by no load, get, insert or delete: leave this line out");
  }
  if (!trace_.threads.empty()) return {};
  return at_line(name_, line_, 1, "the trace ends here, but contains no call: add one");
}

Result<void> TraceParser::check_threads() const {
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    const std::string name = "thread " + std::to_string(t);
    if (threads_[t].first_line == 0) {
      return at_line(name_, threads_.back().first_line, 1,
                     "this is the first line of thread " + std::to_string(threads_.size() - 1) +
                         ", but " + name +
                         " has no line: number the threads 0, 1 and so on, without gaps");
    }
    if (threads_[t].begin_line == 0) continue;
    return at_line(name_, threads_[t].begin_line, 1,
                   name + " does not end this transaction: add commit or abort");
  }
  return {};
}

Result<TraceFile> TraceParser::finish() {
  if (const Result<void> fine = check_indexes(); !fine) return fine.error();
  if (const Result<void> fine = check_threads(); !fine) return fine.error();
  // The trace is kept for the whole session, so it must not take more memory than it needs.
  trace_.pairs.shrink_to_fit();
  trace_.load.shrink_to_fit();
  for (std::vector<TraceCall>& calls : trace_.threads) calls.shrink_to_fit();
  return std::move(trace_);
}

}  // namespace keydrome::workload
