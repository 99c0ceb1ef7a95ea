// Implements Clients and Client, which write the programs of client threads: they append
// transactions, open and close indexes, and insert check transactions at regular intervals.
#include "benchmarks/kit/workload/clients.h"

#include <numeric>
#include <utility>

#include "base/check.h"

namespace keydrome::workload {
namespace {

// An index is closed and opened again after this many transactions or loaded records.
constexpr uint32_t kPerOpen = 100;
constexpr uint32_t kVerifyThreads = 4;

}  // namespace

void Client::use(uint32_t index) {
  if (opened_ == index + 1) return;
  close();
  out_->unit_start();
  out_->open(kSlot, index);
  opened_ = index + 1;
}

void Client::begin(uint32_t index, uint32_t class_number) {
  use(index);
  out_->begin(format::Kind::kStream, class_number);
}

void Client::use_all() {
  if (opened_ == kAll) return;
  close();
  out_->unit_start();
  const uint32_t count = clients_->script_->index_count();
  for (uint32_t index = 0; index < count; ++index) out_->open(static_cast<uint8_t>(index), index);
  opened_ = kAll;
}

void Client::begin_on_all(uint32_t class_number) {
  use_all();
  out_->begin(format::Kind::kStream, class_number);
}

void Client::commit() {
  out_->commit();
  done();
}

void Client::done() {
  if (++in_open_ >= kPerOpen) close();
  if (++done_ % clients_->options_.check_every == 0) clients_->append_checks(*this);
}

void Client::close() {
  const uint32_t count = opened_ == kAll ? clients_->script_->index_count() : opened_ != 0 ? 1 : 0;
  for (uint32_t slot = 0; slot < count; ++slot) out_->close(static_cast<uint8_t>(slot));
  opened_ = 0;
  in_open_ = 0;
}

Clients::Clients(script::ScriptBuilder& script, Options options)
    : script_(&script), options_(std::move(options)), check_(script.add_class("check")) {
  if (options_.policy.stripes) {
    stripes_.emplace(script, options_.seed, options_.threads, check_);
  }
  if (options_.policy.canaries) canaries_.emplace(script, check_);
  for (uint32_t t = 0; t < options_.threads; ++t) {
    clients_.push_back(Client(*this, t, options_.seed));
  }
}

void Clients::load(uint64_t count, const std::function<Row(uint64_t)>& row) {
  const uint32_t number = script_->add_phase("load", size(), {});
  script_->reserve(number, count / size() * 11 / 10);
  for (uint32_t t = 0; t < size(); ++t) {
    load_part(script_->thread(number, t), t, count * t / size(), count * (t + 1) / size(), row);
  }
}

void Clients::load_part(script::ThreadBuilder out, uint32_t thread, uint64_t first, uint64_t last,
                        const std::function<Row(uint64_t)>& row) {
  uint32_t opened = 0;  // number of the open index + 1; 0: none is open
  for (uint64_t at = first; at < last; ++at) {
    const Row next = row(at);
    const bool full = (at - first) % kPerOpen == 0;
    if (opened != 0 && (full || opened != next.index + 1)) {
      out.close(Client::kSlot);
      opened = 0;
      if (stripes_ && full) stripes_->append_insert(out, thread);
    }
    if (opened == 0) {
      out.unit_start();
      out.open(Client::kSlot, next.index);
      opened = next.index + 1;
    }
    out.auto_commit_as(format::Kind::kStream, check_);
    out.insert(Client::kSlot, next.key, next.payload);
  }
  if (opened != 0) out.close(Client::kSlot);
}

uint32_t Clients::start(const std::string& phase, uint64_t ops_per_thread) {
  const uint32_t number = script_->add_phase(phase, size(), {.timed = true, .pinned = pinned_});
  script_->reserve(number, ops_per_thread);
  for (Client& client : clients_) client.out_.emplace(script_->thread(number, client.number_));
  barriers_ = 0;
  return number;
}

void Clients::finish() {
  for (Client& client : clients_) client.close();
}

void Clients::barrier() {
  KEYDROME_CHECK(barriers_ < format::kEvents);
  for (Client& client : clients_) {
    client.close();
    client.out().signal(barriers_);
    client.out().wait(barriers_, size());
  }
  ++barriers_;
}

void Clients::verify(const std::string& phase) {
  script::add_verify_phase(*script_, kVerifyThreads, check_, phase);
}

void Clients::append_checks(Client& client) {
  client.close();
  if (stripes_) stripes_->append_transaction(*client.out_, client.number_);
  if (!canaries_) return;
  const auto index = static_cast<uint32_t>(client.checks_.below(script_->index_count()));
  canaries_->append(*client.out_, client.checks_, index, client.turns_++,
                    [&] { return options_.probe(client.checks_, index); });
}

std::vector<uint32_t> random_texts(script::ScriptBuilder& script, uint64_t seed, uint32_t count,
                                   uint32_t bytes) {
  if (bytes == 0) return {0};
  Rng rng(seed, 0, Purpose::kPools);
  std::vector<uint32_t> texts;
  for (uint32_t i = 0; i < count; ++i) {
    std::string text;
    for (uint32_t at = 0; at < bytes; ++at) {
      text += static_cast<char>('!' + rng.below('~' - '!' + 1));
    }
    texts.push_back(script.add_text(text));
  }
  return texts;
}

std::vector<uint32_t> shuffled(uint32_t count, Rng& rng) {
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0u);
  for (uint32_t left = count; left > 1; --left) {
    std::swap(numbers[left - 1], numbers[rng.below(left)]);
  }
  return numbers;
}

double committed_per_second(const script::PhaseOutcome& outcome, const PhaseMeasures& phase,
                            uint32_t class_number) {
  uint64_t committed = 0;
  for (const script::ThreadResult& thread : outcome.threads) {
    committed += thread.totals.committed[class_number];
  }
  return static_cast<double>(committed) * 1e9 / static_cast<double>(phase.wall_ns);
}

}  // namespace keydrome::workload
