// Generates the operations of the benchmark "trace", which plays the recorded calls of a user's own
// program (README.md).
#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/kit/workload/client_script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/trace_file/trace_file.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/trace/example.h"

namespace keydrome {
namespace trace {
namespace {

using workload::TraceCall;
using workload::TraceFile;
using workload::TracePair;
using What = TraceCall::What;

// A thread receives its program in pieces, which end where no handle is open (kit/format/piece.h).
// Handles are closed after this many calls, so that pieces stay small even if transactions are
// long.
constexpr uint64_t kCallsPerOpen = 1'000;

// The transaction classes, by which the report groups latencies, in this order: transactions that
// only read, other transactions, and auto-commit calls.
constexpr std::array kClasses = {"read", "write", "get", "insert", "delete"};
constexpr uint32_t kRead = 0, kWrite = 1, kGet = 2, kInsert = 3, kDelete = 4;

bool ends(const TraceCall& call) { return call.what == What::kCommit || call.what == What::kAbort; }

bool writes(const TraceCall& call) {
  return call.what == What::kInsert || call.what == What::kDeleteKey ||
         call.what == What::kDeletePair;
}

// Writes the script. Each key has the same number in the script's list of keys (pool) as in the
// trace. The handle of index i is in slot (variable) i of the player, which makes the calls.
class Generator : public workload::ClientScript {
 public:
  Generator(const TraceFile& trace, uint64_t seed, const CheckPolicy& policy)
      : ClientScript(seed, policy), trace_(trace) {
    for (const TraceFile::Index& index : trace.indexes) builder().add_index(index.name, index.type);
    for (const int32_t key : trace.int32_keys) builder().add_int32_key(key);
    for (const int64_t key : trace.int64_keys) builder().add_int64_key(key);
    builder().set_varchar_keys(trace.varchar_keys);
    add_payloads();
    for (const char* name : kClasses) builder().add_class(name);
    add_clients(static_cast<uint32_t>(trace.threads.size()), [this](Rng& rng, uint32_t index) {
      return static_cast<uint32_t>(rng.below(trace_.keys_of(builder().type(index))));
    });
  }

 private:
  // The tag of a pair, a unique number, replaces the first bytes of its payload.
  void add_payloads() {
    builder().reserve_texts(trace_.payloads.size(), trace_.payloads.bytes().size());
    std::vector<uint32_t> texts;
    texts.reserve(trace_.payloads.size());
    for (const std::string_view payload : trace_.payloads) {
      texts.push_back(
          builder().add_text(payload.substr(std::min<std::size_t>(payload.size(), kTagBytes))));
    }
    payloads_.reserve(trace_.pairs.size());
    for (const TracePair& pair : trace_.pairs) {
      payloads_.push_back(builder().new_payload(
          pair.text == TracePair::kNoText ? script::kNoText : texts[pair.text]));
    }
  }

  void load() override {
    if (trace_.load.empty()) return;
    clients().load(trace_.load.size(), [this](uint64_t i) {
      const TraceCall& record = trace_.load[i];
      return Row{.index = record.index, .key = record.key, .payload = payloads_[record.pair]};
    });
  }

  void run() override {
    const workload::TraceCounts& counts = trace_.counts;
    const uint64_t ops = 2 * counts.transactions + counts.lines + counts.single_calls;
    const uint64_t with_checks = ops + ops / 4;  // reserved, so that the programs need not grow
    clients().start("run", with_checks / clients().size());
    for (Client& client : clients()) play(client, trace_.threads[client.number()]);
    clients().finish();
  }

  void play(Client& client, std::span<const TraceCall> calls) {
    uint64_t calls_in_open = 0;
    while (!calls.empty()) {
      const auto end = calls.front().what == What::kBegin
                           ? std::ranges::find_if(calls, ends) - calls.begin() + 1
                           : 1;
      const auto length = static_cast<std::size_t>(end);
      play_unit(client, calls.first(length));
      calls = calls.subspan(length);
      calls_in_open += length;
      if (calls_in_open < kCallsPerOpen) continue;
      client.close();
      calls_in_open = 0;
    }
  }

  // Plays a transaction, or a call outside of transactions.
  void play_unit(Client& client, std::span<const TraceCall> calls) {
    if (calls.size() == 1) {
      client.use_all();
      client.out().auto_commit_as(format::Kind::kStream, class_of(calls.front()));
      append(client.out(), calls.front());
      return client.done();
    }
    client.begin_on_all(std::ranges::any_of(calls, writes) ? kWrite : kRead);
    for (const TraceCall& call : calls.subspan(1, calls.size() - 2)) append(client.out(), call);
    if (calls.back().what == What::kCommit) return client.commit();
    client.out().abort();
    client.done();
  }

  static uint32_t class_of(const TraceCall& call) {
    if (call.what == What::kGet) return kGet;
    return call.what == What::kInsert ? kInsert : kDelete;
  }

  void append(script::ThreadBuilder& out, const TraceCall& call) const {
    switch (call.what) {
      case What::kGet:
        return out.get(call.index, call.key);
      case What::kNext:
        return out.next(call.index, call.key);
      case What::kInsert:
        return out.insert(call.index, call.key, payloads_[call.pair],
                          trace_.pairs[call.pair].inserts > 1 ? format::kMayExist : uint8_t{0});
      case What::kDeleteKey:
        return out.delete_key(call.index, call.key);
      default:
        return out.delete_pair(call.index, call.key, payloads_[call.pair]);
    }
  }

  static constexpr std::size_t kTagBytes = format::kTagBytes;

  const TraceFile& trace_;
  std::vector<script::Payload> payloads_;  // by pair
};

std::shared_ptr<const TraceFile> example() {
  static const auto trace = std::make_shared<const TraceFile>(
      workload::parse_trace("the example trace", example_text()).value());
  return trace;
}

class Trace : public workload::Workload {
 public:
  bool play_trace(std::shared_ptr<const TraceFile> trace) override {
    trace_ = std::move(trace);
    return true;
  }

  workload::Demand demand(const workload::Parameters& /*parameters*/) const override {
    constexpr double kBeginAndCommit = 2, kPerOpen = 100;
    const workload::TraceCounts& counts = trace_->counts;
    const auto pairs = static_cast<double>(trace_->pairs.size());
    const double bytes = static_cast<double>(counts.record_bytes) / std::max(pairs, 1.0);
    const auto loaded = static_cast<double>(trace_->load.size());
    const auto inserts = static_cast<double>(counts.inserts);
    const auto deletes = static_cast<double>(counts.deletes);
    const auto stored_keys = static_cast<double>(counts.stored_keys);
    workload::Demand demand(static_cast<double>(trace_->threads.size()));
    demand.add_load(loaded, bytes);
    // `more` is the number of inserts that make the index larger. The others replace records that
    // the trace deletes.
    const double more = std::min(inserts, std::max({0.0, inserts - deletes, stored_keys - loaded}));
    demand.add_inserts(more, bytes);
    demand.add_changes(inserts - more, deletes);
    demand.add_keys(static_cast<double>(trace_->keys()) - stored_keys, bytes);
    demand.set_longest(static_cast<double>(counts.longest_bytes));
    demand.add_strings(
        static_cast<double>(trace_->varchar_keys.bytes().size() + trace_->payloads.bytes().size()));
    const auto units = static_cast<double>(counts.transactions + counts.single_calls);
    const double handles = units / kPerOpen * 2 * static_cast<double>(trace_->indexes.size());
    const double lines = static_cast<double>(counts.lines + counts.single_calls) + handles -
                         kBeginAndCommit * static_cast<double>(counts.single_calls);
    const double calls = lines + static_cast<double>(counts.next_calls);
    demand.add_transactions(units, lines / std::max(units, 1.0), calls / std::max(units, 1.0));
    // The parser's tables (trace_file/number_table.h) are freed, but the allocator may keep their
    // memory.
    constexpr double kForParsed = 24;
    const double parsed = pairs + static_cast<double>(trace_->keys() + trace_->payloads.size());
    demand.add_bytes(static_cast<double>(trace_->bytes()) + pairs * sizeof(script::Payload) +
                     parsed * kForParsed);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& /*parameters*/, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    return Generator(*trace_, seed, policy).write();
  }

 private:
  std::shared_ptr<const TraceFile> trace_ = example();
};

}  // namespace
}  // namespace trace

std::unique_ptr<workload::Workload> make_trace(std::string_view /*instance*/) {
  return std::make_unique<trace::Trace>();
}

}  // namespace keydrome
