// LinkBench-like: the ten operations of LinkBench on nodes, links and counts (README.md).
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "benchmarks/kit/clients.h"
#include "benchmarks/kit/judge.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/workload.h"
#include "benchmarks/kit/ycsb_random.h"
#include "benchmarks/linkbench/graph.h"
#include "benchmarks/linkbench/keys.h"
#include "benchmarks/linkbench/laws.h"
#include "benchmarks/linkbench/procedures.h"

namespace keydrome {
namespace linkbench {
namespace {

constexpr uint32_t kVerifyThreads = 4;
constexpr uint32_t kTexts = 1024;  // of nodes, and of links
enum Phase : uint32_t { kCreatePhase, kLoadPhase, kLoadedPhase, kRunPhase, kVerifyPhase };

// A transaction's class, by its operation: there is room for seven.
constexpr std::array kClasses = {"write_link",    "delete_link", "count_links", "get_links",
                                 "get_link_list", "get_node",    "write_node"};
constexpr std::array<uint32_t, kOperations> kClassOf = {0, 1, 0, 2, 3, 4, 5, 6, 6, 6};

// Exponents of the skews, and the share of link accesses whose skew has nothing to do with
// out-degrees.
constexpr double kLinkReadSkew = 0.8, kLinkWriteSkew = 0.741;
constexpr double kNodeReadSkew = 0.625, kNodeUpdateSkew = 0.606;
constexpr double kReadUncorrelated = 0.995, kWriteUncorrelated = 0.95;
// How likely a link of an operation is one that was loaded.
constexpr double kAddLoaded = 0.05, kUpdateLoaded = 0.9, kDeleteLoaded = 0.9, kGetLoaded = 0.5;
constexpr uint64_t kHistoryPerMille = 3;

// Writes the whole script; one use. Nodes and lists are numbered from 0; a node's number is also
// that of its key. Strings are numbered so: the lists of each node and the one behind them, the
// places of all loaded links, their pairs, and what comes up later.
class Generator {
 public:
  Generator(const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : nodes_(static_cast<uint32_t>(parameters["nodes"])),
        requests_(static_cast<uint64_t>(parameters["requests_per_thread"])),
        evidence_(policy.evidence ? kEvidence : uint8_t{0}),
        populate_(seed, 0, Purpose::kPopulate),
        link_reads_(nodes_, kLinkReadSkew),
        link_writes_(nodes_, kLinkWriteSkew),
        node_reads_(nodes_, kNodeReadSkew),
        node_updates_(nodes_, kNodeUpdateSkew) {
    script_.add_index("nodes", INT);
    for (const char* name : {"links", "links_by_id2", "counts"}) script_.add_index(name, VARCHAR);
    Rng shape(seed, 0, Purpose::kShape);
    by_degree_ = shuffled(nodes_, shape);
    by_access_ = shuffled(nodes_, shape);
    by_node_access_ = shuffled(nodes_, shape);
    add_keys();
    for (const char* name : kClasses) script_.add_class(name);
    add_procedures(script_);
    node_texts_ = random_texts(script_, seed, kTexts, MAX_PAYLOAD_LEN - kTagBytes);
    link_texts_ = random_texts(script_, seed + 1, kTexts, kLinkRowBytes);
    clients_.emplace(
        script_,
        Clients::Options{.seed = seed,
                         .threads = static_cast<uint32_t>(parameters["threads"]),
                         .policy = policy,
                         .probe = [this](Rng& rng, uint32_t index) { return probe(rng, index); }});
  }

  Script run() {
    const uint32_t create = script_.add_phase("create", 1, {});
    for (uint32_t table = 0; table < kTables; ++table) script_.thread(create, 0).create(table);
    load();
    add_verify_phase(script_, kVerifyThreads, clients_->check_class(), "loaded");
    clients_->start("run", requests_ * 3);
    for (uint64_t i = 0; i < requests_; ++i) {
      for (Client& client : *clients_) request(client);
    }
    clients_->finish();
    clients_->verify();
    return script_.build();
  }

 private:
  static uint32_t id_of(uint32_t node) { return node + 1; }
  static uint32_t key_of_list(uint32_t list) {
    return list / kTypes * (kTypes + 1) + list % kTypes;
  }
  uint32_t links() const { return first_link_.back(); }
  uint32_t links_of(uint32_t list) const { return first_link_[list + 1] - first_link_[list]; }
  uint32_t places() const { return nodes_ * (kTypes + 1); }  // the first one
  uint32_t pairs() const { return places() + links(); }

  // Links are divided among the types; the i-th of a list leads to the node that comes i behind.
  void add_keys() {
    std::vector<uint32_t> degrees(nodes_);
    const std::vector<uint32_t> by_rank = out_degrees(nodes_);
    for (uint32_t rank = 0; rank < nodes_; ++rank) degrees[by_degree_[rank]] = by_rank[rank];
    const std::size_t links = std::reduce(by_rank.begin(), by_rank.end(), std::size_t{0});
    const std::size_t lists = nodes_ * std::size_t{kTypes + 1};
    // Half as much again, for what the run adds.
    script_.reserve_varchar_keys((lists + 2 * links) * 3 / 2,
                                 (lists * kListBytes + links * (kPairBytes + kLinkBytes)) * 3 / 2);
    script_.reserve_texts(links + 4 * kTexts, links * kLinkRowBytes + 4 * kTexts * MAX_PAYLOAD_LEN);
    for (uint32_t node = 0; node < nodes_; ++node) {
      script_.add_int64_key(id_of(node));
      for (uint32_t type = 0; type <= kTypes; ++type) {
        add_key([&](std::string& key) { append_list_key(key, id_of(node), type); });
      }
      for (uint32_t type = 0; type < kTypes; ++type) {
        first_link_.push_back(first_link_.back() + (degrees[node] + kTypes - 1 - type) / kTypes);
      }
    }
    next_id_ = id_of(nodes_);
    add_link_keys([this](std::string& key, uint32_t id1, uint32_t type, uint32_t id2) {
      append_link_key(key, id1, type, ++time_, id2);
    });
    add_link_keys(append_pair_key);
  }

  template <typename Write>
  uint32_t add_key(const Write& write) {
    key_.clear();
    write(key_);
    return script_.add_varchar_key(key_);
  }

  template <typename Append>
  void add_link_keys(const Append& append) {
    for (uint32_t list = 0; list < nodes_ * kTypes; ++list) {
      const uint32_t id1 = id_of(list / kTypes);
      for (uint32_t i = 0; i < links_of(list); ++i) {
        add_key([&](std::string& key) { append(key, id1, list % kTypes, id1 + i); });
      }
    }
  }

  // A key that a canary may use.
  uint32_t probe(Rng& rng, uint32_t index) const {
    const auto link = static_cast<uint32_t>(rng.below(links()));
    const auto node = static_cast<uint32_t>(rng.below(nodes_));
    if (index == kNodes) return node;
    if (index == kCounts) return key_of_list(node * kTypes);
    return (index == kLinks ? places() : pairs()) + link;
  }

  // Table by table, so that a thread opens each once for many rows.
  void load() {
    std::vector<uint32_t> lists;
    for (uint32_t list = 0; list < nodes_ * kTypes; ++list) {
      if (links_of(list) > 0) lists.push_back(list);
    }
    const std::vector<uint32_t> order = shuffled(links(), populate_);
    std::vector<uint32_t> texts;
    for (uint32_t link = 0; link < links(); ++link) texts.push_back(link_row(places() + link));
    const uint64_t first_count = nodes_, first_pair = first_count + lists.size();
    const uint64_t first_link = first_pair + links();
    clients_->load(first_link + links(), [&](uint64_t i) -> Row {
      if (i < first_count) {
        return {kNodes, by_access_[i], script_.new_payload(any(node_texts_, populate_))};
      }
      if (i < first_pair) {
        const uint32_t list = lists[i - first_count];
        return {kCounts, key_of_list(list), script_.new_payload(count_row(links_of(list)))};
      }
      const bool is_pair = i < first_link;
      const uint32_t link = order[i - (is_pair ? first_pair : first_link)];
      return {is_pair ? kLinksById2 : kLinks, (is_pair ? pairs() : places()) + link,
              script_.new_payload(texts[link])};
    });
  }

  static uint32_t any(const std::vector<uint32_t>& texts, Rng& rng) {
    return texts[rng.below(texts.size())];
  }

  uint32_t link_row(uint32_t place) {
    std::string row(script_.pools().payloads[any(link_texts_, populate_)]);
    write_number(row.data(), kPlace, place);
    return script_.add_text(row);
  }

  uint32_t count_row(uint32_t count) {
    const auto [at, is_new] = count_texts_.try_emplace(count, 0);
    if (is_new) {
      std::string row(kCount.width, kDigitZero);
      write_number(row.data(), kCount, count);
      at->second = script_.add_text(row);
    }
    return at->second;
  }

  void request(Client& client) {
    Rng& rng = client.rng();
    const Operation operation = draw_operation(rng);
    client.begin_on_all(kClassOf[operation]);
    switch (operation) {
      case kAddLink:
        show_link(client, kAddLoaded);
        break;
      case kUpdateLink:
        show_link(client, kUpdateLoaded);
        break;
      case kDeleteLink:
        hide_link(client);
        break;
      case kCountLinks:
        client.out().get(kCounts, key_of_list(read_list(rng)), client.sample());
        break;
      case kGetLinks:
        get_links(client);
        break;
      case kGetLinkList:
        get_link_list(client);
        break;
      default:
        node(client, operation);
    }
    client.commit();
  }

  void node(Client& client, Operation operation) {
    Rng& rng = client.rng();
    ThreadBuilder& out = client.out();
    switch (operation) {
      case kGetNode:
        return out.get(kNodes, by_node_access_[node_reads_.next(rng)], client.sample());
      case kAddNode:
        return out.insert(kNodes, script_.add_int64_key(next_id_++),
                          script_.new_payload(any(node_texts_, rng)));
      case kUpdateNode: {
        const uint32_t node = by_node_access_[node_updates_.next(rng)];
        return out.run(kReplaceNode, std::array<int64_t, 2>{id_of(node), any(node_texts_, rng)});
      }
      default:
        return out.delete_key(kNodes, static_cast<uint32_t>(rng.below(nodes_)), client.sample());
    }
  }

  // With the published skew, and in some cases by out-degree.
  uint32_t draw_list(Rng& rng, const GrayZipf& skew, double uncorrelated) const {
    const std::vector<uint32_t>& order =
        unit_interval(rng) < uncorrelated ? by_access_ : by_degree_;
    const uint32_t node = order[skew.next(rng)];
    return node * kTypes + static_cast<uint32_t>(rng.below(kTypes));
  }
  uint32_t read_list(Rng& rng) const { return draw_list(rng, link_reads_, kReadUncorrelated); }
  uint32_t written_list(Rng& rng) const { return draw_list(rng, link_writes_, kWriteUncorrelated); }

  // The number of a link in the list; with that probability one that was loaded.
  uint32_t draw_link(Rng& rng, uint32_t list, double loaded) const {
    const auto range = static_cast<uint64_t>(std::llround(links_of(list) / loaded));
    return static_cast<uint32_t>(rng.below(std::max<uint64_t>(1, range)));
  }

  // The key of a link's pair.
  uint32_t pair(uint32_t list, uint32_t link) {
    if (link < links_of(list)) return pairs() + first_link_[list] + link;
    const auto [at, is_new] = later_pairs_.try_emplace(uint64_t{list} << 32 | link, 0);
    if (is_new) {
      const uint32_t id1 = id_of(list / kTypes);
      at->second =
          add_key([&](std::string& key) { append_pair_key(key, id1, list % kTypes, id1 + link); });
    }
    return at->second;
  }

  void show_link(Client& client, double loaded) {
    Rng& rng = client.rng();
    const uint32_t list = written_list(rng), link = draw_link(rng, list, loaded);
    const uint32_t id1 = id_of(list / kTypes);
    const uint32_t place = add_key(
        [&](std::string& key) { append_link_key(key, id1, list % kTypes, ++time_, id1 + link); });
    client.out().run(
        kShowLink,
        std::array<int64_t, 4>{key_of_list(list), pair(list, link), place, any(link_texts_, rng)},
        evidence_);
    for (const Table table : {kLinks, kLinksById2, kCounts}) script_.expect_inserts(table, 1);
  }

  void hide_link(Client& client) {
    Rng& rng = client.rng();
    const uint32_t list = written_list(rng), link = draw_link(rng, list, kDeleteLoaded);
    client.out().run(kHideLink, std::array<int64_t, 2>{key_of_list(list), pair(list, link)},
                     evidence_);
  }

  // What is drawn twice is asked for once.
  void get_links(Client& client) {
    Rng& rng = client.rng();
    const uint32_t list = read_list(rng);
    std::vector<uint32_t> asked;
    for (uint32_t left = draw_multiget(rng); left > 0; --left) {
      const uint32_t link = draw_link(rng, list, kGetLoaded);
      if (std::find(asked.begin(), asked.end(), link) != asked.end()) continue;
      asked.push_back(link);
      client.out().get(kLinksById2, pair(list, link), client.sample());
    }
  }

  // From the newest link on; history begins at one that was loaded, and goes on to older ones.
  void get_link_list(Client& client) {
    Rng& rng = client.rng();
    const uint32_t list = read_list(rng), count = links_of(list);
    const bool history = rng.below(1000) < kHistoryPerMille && count > 0;
    const uint32_t from =
        history ? places() + first_link_[list] + static_cast<uint32_t>(rng.below(count))
                : key_of_list(list);
    client.out().run(list_procedure(count),
                     std::array<int64_t, 2>{from, key_of_list(list) + int64_t{1}}, client.sample());
  }

  uint32_t nodes_;
  uint64_t requests_;
  uint8_t evidence_;
  Rng populate_;
  GrayZipf link_reads_, link_writes_, node_reads_, node_updates_;
  ScriptBuilder script_;
  std::string key_;  // while it is made
  // Nodes by rank: of out-degree, of what link accesses and node accesses prefer.
  std::vector<uint32_t> by_degree_, by_access_, by_node_access_;
  std::vector<uint32_t> first_link_ = {0};              // by list, and the number of all links
  std::unordered_map<uint64_t, uint32_t> later_pairs_;  // by list and link that was not loaded
  std::unordered_map<uint32_t, uint32_t> count_texts_;
  std::vector<uint32_t> node_texts_, link_texts_;
  uint32_t next_id_ = 0, time_ = 0;
  std::optional<Clients> clients_;
};

class LinkBench : public Workload {
 public:
  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy& policy) override {
    return Generator(parameters, seed, policy).run();
  }

  void judge(const Script& script, const Outcome& outcome, Findings& findings) const override {
    judge_script(script, outcome, findings);
    check(script, outcome, kLoadedPhase, std::nullopt, "after the load", findings);
    check(script, outcome, kVerifyPhase, kRunPhase, "after the run", findings);
  }

  // LinkBench's range size, of the lists that left evidence.
  void measure(const Script& script, const Outcome& outcome, std::span<const PhaseMeasures> phases,
               Metrics& metrics) const override {
    if (phases.size() <= kRunPhase) return;
    const Books books = keep_books(script, outcome, kLoadPhase, kRunPhase);
    if (books.sights.empty()) return;
    double links = 0;
    for (const Sight& sight : books.sights) links += static_cast<double>(sight.links);
    metrics["links_per_list"] = links / static_cast<double>(books.sights.size());
  }

 private:
  static void check(const Script& script, const Outcome& outcome, uint32_t verify,
                    std::optional<uint32_t> run, const std::string& when, Findings& findings) {
    if (outcome.phases.size() <= verify) return;
    const Books books = keep_books(script, outcome, kLoadPhase, run);
    check_graph(books, read_graph(script, outcome, verify, books), when, findings);
  }
};

}  // namespace
}  // namespace linkbench

std::unique_ptr<Workload> make_linkbench(std::string_view /*instance*/) {
  return std::make_unique<linkbench::LinkBench>();
}

}  // namespace keydrome
