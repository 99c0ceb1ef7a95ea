// Generates and judges the operations of the benchmark "linkbench": the ten operations of LinkBench
// on nodes, links and counts (README.md).
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

#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/workload/client_script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/distributions.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/linkbench/distributions.h"
#include "benchmarks/linkbench/graph.h"
#include "benchmarks/linkbench/graph_keys.h"
#include "benchmarks/linkbench/keys.h"
#include "benchmarks/linkbench/procedures.h"

namespace keydrome {
namespace linkbench {
namespace {

constexpr uint32_t kTexts = 1024;  // different texts for nodes, and as many for links
enum Phase : uint32_t { kCreatePhase, kLoadPhase, kLoadedPhase, kRunPhase, kVerifyPhase };

// The transaction classes, by which the report groups latencies. Some operations share a class
// (kClassOf), because a script can have only seven classes in addition to "check".
constexpr std::array kClasses = {"write_link",    "delete_link", "count_links", "get_links",
                                 "get_link_list", "get_node",    "write_node"};
constexpr std::array<uint32_t, kOperations> kClassOf = {0, 1, 0, 2, 3, 4, 5, 6, 6, 6};

// The probability that an operation (add, update, delete, get) chooses a link that was loaded.
constexpr double kAddLoaded = 0.05, kUpdateLoaded = 0.9, kDeleteLoaded = 0.9, kGetLoaded = 0.5;
constexpr uint64_t kHistoryPerMille = 3;

uint32_t any(const std::vector<uint32_t>& texts, workload::Rng& rng) {
  return texts[rng.below(texts.size())];
}

// Chooses nodes and lists with LinkBench's skews: Zipf distributions over the ranks of the nodes. A
// node has three unrelated ranks: by out-degree, by link accesses and by node accesses.
class NodeChooser {
 public:
  NodeChooser(uint32_t nodes, uint64_t seed)
      : link_reads_(nodes, 0.8),
        link_writes_(nodes, 0.741),
        node_reads_(nodes, 0.625),
        node_updates_(nodes, 0.606) {
    workload::Rng rng(seed, 0, workload::Purpose::kShape);
    by_degree_ = workload::shuffled(nodes, rng);
    by_access_ = workload::shuffled(nodes, rng);
    by_node_access_ = workload::shuffled(nodes, rng);
  }

  // Returns the out-degree of each node.
  std::vector<uint32_t> degrees() const {
    const std::vector<uint32_t> by_rank = out_degrees(static_cast<uint32_t>(by_degree_.size()));
    std::vector<uint32_t> degrees(by_degree_.size());
    for (std::size_t rank = 0; rank < degrees.size(); ++rank) {
      degrees[by_degree_[rank]] = by_rank[rank];
    }
    return degrees;
  }

  uint32_t list_to_read(workload::Rng& rng) const {
    return random_list(rng, link_reads_, kReadUncorrelated);
  }
  uint32_t list_to_write(workload::Rng& rng) const {
    return random_list(rng, link_writes_, kWriteUncorrelated);
  }
  uint32_t node_to_read(workload::Rng& rng) const { return by_node_access_[node_reads_.next(rng)]; }
  uint32_t node_to_update(workload::Rng& rng) const {
    return by_node_access_[node_updates_.next(rng)];
  }
  // Returns the i-th node in the order of loading.
  uint32_t node_to_load(uint64_t i) const { return by_access_[i]; }

 private:
  // The probability that a link access chooses its node independently of the out-degrees of nodes.
  static constexpr double kReadUncorrelated = 0.995, kWriteUncorrelated = 0.95;

  uint32_t random_list(workload::Rng& rng, const workload::GrayZipf& skew,
                       double uncorrelated) const {
    const std::vector<uint32_t>& order =
        workload::unit_interval(rng) < uncorrelated ? by_access_ : by_degree_;
    const uint32_t node = order[skew.next(rng)];
    return node * kTypes + static_cast<uint32_t>(rng.below(kTypes));
  }

  workload::GrayZipf link_reads_, link_writes_, node_reads_, node_updates_;
  std::vector<uint32_t> by_degree_, by_access_, by_node_access_;  // nodes by rank
};

// Writes the script: loads the graph, checks it, then runs the mix of operations.
class Generator : public workload::ClientScript {
 public:
  Generator(const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : ClientScript(seed, policy),
        requests_(parameters.u64("requests_per_thread")),
        evidence_(policy.evidence ? format::kEvidence : uint8_t{0}),
        load_rng_(seed, 0, Purpose::kPopulate),
        chooser_(parameters.u32("nodes"), seed),
        keys_(builder(), chooser_.degrees(), 4 * kTexts) {
    builder().add_index("nodes", INT);
    for (const char* name : {"links", "links_by_id2", "counts"}) {
      builder().add_index(name, VARCHAR);
    }
    for (const char* name : kClasses) builder().add_class(name);
    add_procedures(builder());
    node_texts_ =
        workload::random_texts(builder(), seed, kTexts, MAX_PAYLOAD_LEN - format::kTagBytes);
    link_texts_ = workload::random_texts(builder(), seed + 1, kTexts, kLinkRowBytes);
    add_clients(parameters.u32("threads"),
                [this](Rng& rng, uint32_t index) { return loaded_key(rng, index); });
  }

 private:
  // Returns a loaded key of the index, for a canary (a check whose reads must agree).
  uint32_t loaded_key(Rng& rng, uint32_t index) const {
    const auto link = static_cast<uint32_t>(rng.below(keys_.links()));
    const auto node = static_cast<uint32_t>(rng.below(keys_.nodes()));
    if (index == kNodes) return node;
    if (index == kCounts) return GraphKeys::key_of_list(node * kTypes);
    return index == kLinks ? keys_.link_key(link) : keys_.pair_key(link);
  }

  // Loads table by table, so that a thread opens an index once for many rows.
  void load() override {
    std::vector<uint32_t> lists;  // lists that have links
    for (uint32_t list = 0; list < keys_.lists(); ++list) {
      if (keys_.links_of(list) > 0) lists.push_back(list);
    }
    const std::vector<uint32_t> order = workload::shuffled(keys_.links(), load_rng_);
    std::vector<uint32_t> texts;
    for (uint32_t link = 0; link < keys_.links(); ++link) {
      texts.push_back(link_row(keys_.link_key(link)));
    }
    const uint64_t first_count = keys_.nodes(), first_pair = first_count + lists.size();
    const uint64_t first_link = first_pair + keys_.links();
    clients().load(first_link + keys_.links(), [&](uint64_t i) -> Row {
      if (i < first_count) {
        return {kNodes, chooser_.node_to_load(i),
                builder().new_payload(any(node_texts_, load_rng_))};
      }
      if (i < first_pair) {
        const uint32_t list = lists[i - first_count];
        return {kCounts, GraphKeys::key_of_list(list),
                builder().new_payload(count_row(keys_.links_of(list)))};
      }
      const bool is_pair = i < first_link;
      const uint32_t link = order[i - (is_pair ? first_pair : first_link)];
      return {is_pair ? kLinksById2 : kLinks, is_pair ? keys_.pair_key(link) : keys_.link_key(link),
              builder().new_payload(texts[link])};
    });
    clients().verify("loaded");
  }

  uint32_t link_row(uint32_t link_key) {
    std::string row(builder().pools().payloads[any(link_texts_, load_rng_)]);
    format::write_number(row.data(), kLinkKey, link_key);
    return builder().add_text(row);
  }

  uint32_t count_row(uint32_t count) {
    const auto [entry, is_new] = count_texts_.try_emplace(count, 0);
    if (is_new) {
      std::string row(kCount.width, format::kDigitZero);
      format::write_number(row.data(), kCount, count);
      entry->second = builder().add_text(row);
    }
    return entry->second;
  }

  void run() override {
    run_phase("run", requests_, 1, [this](Client& client) {
      const Operation operation = random_operation(client.rng());
      client.begin_on_all(kClassOf[operation]);
      operate(client, operation);
      client.commit();
    });
  }

  void operate(Client& client, Operation operation) {
    switch (operation) {
      case kAddLink:
        return show_link(client, kAddLoaded);
      case kUpdateLink:
        return show_link(client, kUpdateLoaded);
      case kDeleteLink:
        return hide_link(client);
      case kCountLinks: {
        const uint32_t list = chooser_.list_to_read(client.rng());
        return client.out().get(kCounts, GraphKeys::key_of_list(list));
      }
      case kGetLinks:
        return get_links(client);
      case kGetLinkList:
        return get_link_list(client);
      default:
        return operate_on_node(client, operation);
    }
  }

  void operate_on_node(Client& client, Operation operation) {
    Rng& rng = client.rng();
    script::ThreadBuilder& out = client.out();
    switch (operation) {
      case kGetNode:
        return out.get(kNodes, chooser_.node_to_read(rng));
      case kAddNode:
        return out.insert(kNodes, keys_.add_node(), builder().new_payload(any(node_texts_, rng)));
      case kUpdateNode: {
        const uint32_t node = chooser_.node_to_update(rng);
        return out.run(kReplaceNode,
                       std::array<int64_t, 2>{GraphKeys::id_of(node), any(node_texts_, rng)});
      }
      default:
        return out.delete_key(kNodes, static_cast<uint32_t>(rng.below(keys_.nodes())));
    }
  }

  // Returns the number i of a random link of the list. If links of the list were loaded, the link
  // is one of them with probability `loaded`.
  uint32_t random_link(Rng& rng, uint32_t list, double loaded) const {
    const auto range = static_cast<uint64_t>(std::llround(keys_.links_of(list) / loaded));
    return static_cast<uint32_t>(rng.below(std::max<uint64_t>(1, range)));
  }

  void show_link(Client& client, double loaded) {
    Rng& rng = client.rng();
    const uint32_t list = chooser_.list_to_write(rng), link = random_link(rng, list, loaded);
    const uint32_t key = keys_.add_newer_link(list, link);
    client.out().run(
        kShowLink,
        std::array<int64_t, 4>{GraphKeys::key_of_list(list), keys_.pair_of_list(list, link), key,
                               any(link_texts_, rng)},
        evidence_);
    for (const Table table : {kLinks, kLinksById2, kCounts}) builder().expect_inserts(table, 1);
  }

  void hide_link(Client& client) {
    Rng& rng = client.rng();
    const uint32_t list = chooser_.list_to_write(rng);
    const uint32_t link = random_link(rng, list, kDeleteLoaded);
    client.out().run(
        kHideLink,
        std::array<int64_t, 2>{GraphKeys::key_of_list(list), keys_.pair_of_list(list, link)},
        evidence_);
  }

  // Gets several links of one list, each at most once.
  void get_links(Client& client) {
    Rng& rng = client.rng();
    const uint32_t list = chooser_.list_to_read(rng);
    std::vector<uint32_t> requested;
    for (uint32_t left = random_multiget(rng); left > 0; --left) {
      const uint32_t link = random_link(rng, list, kGetLoaded);
      if (std::find(requested.begin(), requested.end(), link) != requested.end()) continue;
      requested.push_back(link);
      client.out().get(kLinksById2, keys_.pair_of_list(list, link));
    }
  }

  // Lists links from the newest to older ones. A history query begins at a random loaded link.
  void get_link_list(Client& client) {
    Rng& rng = client.rng();
    const uint32_t list = chooser_.list_to_read(rng), count = keys_.links_of(list);
    const bool history = rng.below(1000) < kHistoryPerMille && count > 0;
    const uint32_t from =
        history ? keys_.link_key(keys_.first_link(list)) + static_cast<uint32_t>(rng.below(count))
                : GraphKeys::key_of_list(list);
    client.out().run(list_procedure(count),
                     std::array<int64_t, 2>{from, GraphKeys::key_of_list(list) + int64_t{1}},
                     evidence_);
  }

  uint64_t requests_;
  uint8_t evidence_;
  Rng load_rng_;
  NodeChooser chooser_;
  GraphKeys keys_;
  std::unordered_map<uint32_t, uint32_t> count_texts_;  // text of each count
  std::vector<uint32_t> node_texts_, link_texts_;
};

constexpr double kMeanRecordBytes = 60;
constexpr uint32_t kNodesSampled = 10'000;  // enough to estimate the mean number of links

class LinkBench : public workload::Workload {
 public:
  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads"), nodes = parameters.number("nodes");
    // Computed only once, because it is slow. If a session does not fit into the memory, the
    // referee (the process that plans the session) calls demand() hundreds of times to find smaller
    // parameters.
    static const double links = [] {
      const std::vector<uint32_t> degrees = out_degrees(kNodesSampled);
      return std::accumulate(degrees.begin(), degrees.end(), 0.0) / kNodesSampled;
    }();
    workload::Demand demand(threads);
    demand.add_load(nodes * (1 + kTypes * (1 + 2 * links)), kMeanRecordBytes);
    const double requests = threads * parameters.number("requests_per_thread");
    demand.set_longest(kLinkBytes + MAX_PAYLOAD_LEN);
    demand.add_procedures(requests, 30, 10, 3);
    demand.add_inserts(requests, kMeanRecordBytes);
    demand.add_strings(demand.record_bytes);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    return Generator(parameters, seed, policy).write();
  }

  void judge(const script::Script& script, const script::Outcome& outcome,
             judge::Findings& findings) const override {
    judge::judge_script(script, outcome, findings);
    check(script, outcome, kLoadedPhase, std::nullopt, "after the load", findings);
    check(script, outcome, kVerifyPhase, kRunPhase, "after the run", findings);
  }

  // Reports the mean number of links that a read of a list returned. The numbers come from the
  // evidence, copies of results that the library's process reports. LinkBench calls this mean the
  // range size.
  void measure(const script::Script& script, const script::Outcome& outcome,
               std::span<const workload::PhaseMeasures> phases,
               workload::Metrics& metrics) const override {
    if (phases.size() <= kRunPhase) return;
    const Books books = keep_books(script, outcome, kLoadPhase, kRunPhase);
    if (books.observations.empty()) return;
    double links = 0;
    for (const Observation& seen : books.observations) links += static_cast<double>(seen.links);
    metrics["links_per_list"] = links / static_cast<double>(books.observations.size());
  }

 private:
  static void check(const script::Script& script, const script::Outcome& outcome, uint32_t verify,
                    std::optional<uint32_t> run, const std::string& when,
                    judge::Findings& findings) {
    if (outcome.phases.size() <= verify) return;
    const Books books = keep_books(script, outcome, kLoadPhase, run);
    check_graph(script.pools, books, read_graph(script, outcome, verify, books), when, findings);
  }
};

}  // namespace
}  // namespace linkbench

std::unique_ptr<workload::Workload> make_linkbench(std::string_view /*instance*/) {
  return std::make_unique<linkbench::LinkBench>();
}

}  // namespace keydrome
