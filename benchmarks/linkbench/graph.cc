// Implements the graph check of the benchmark "linkbench": Bookkeeper computes the expected graph,
// Reader reads the final scan of all records, and Checker compares the two.
#include "benchmarks/linkbench/graph.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

#include "base/count_text.h"
#include "benchmarks/kit/judge/evidence.h"
#include "benchmarks/linkbench/keys.h"
#include "benchmarks/linkbench/procedures.h"

namespace keydrome::linkbench {
namespace {

int64_t integer_of(std::string_view bytes) {
  int64_t number = 0;
  std::memcpy(&number, bytes.data(), std::min(sizeof number, bytes.size()));
  return number;
}

class Bookkeeper {
 public:
  Bookkeeper(const script::Script& script, Books& books) : pools_(script.pools), books_(books) {}

  void load(std::span<const format::Op> ops) {
    uint32_t table = kTables;
    for (const format::Op& op : ops) {
      if (op.code == format::OpCode::kOpen) table = op.argument;
      const bool is_row = op.code == format::OpCode::kInsert &&
                          static_cast<format::Kind>(op.kind) == format::Kind::kStream;
      if (is_row && table == kNodes) node(op) = 1;
      if (is_row && table == kLinks) ++list(op.key).loaded;
    }
  }

  void run(std::span<const format::Op> ops, const script::ThreadResult& result) {
    const auto committed = [&](const format::Step& step) {
      return step.kind == format::Kind::kStream && step.transaction != format::kNoTransaction &&
             result.ends[step.transaction] == script::TransactionEnd::kCommitted;
    };
    format::walk_program(ops, [&](const format::Step& step) {
      const format::Op& op = ops[step.op];
      if (!committed(step)) return;
      // All inserts outside procedures (transactions whose calls depend on earlier reads) are
      // inserts of nodes.
      if (op.code == format::OpCode::kInsert) node(op) = 1;
      if (op.code == format::OpCode::kDeleteKey) node(op) = 0;
      const bool changes = op.code == format::OpCode::kRun && op.payload <= kHideLink;
      if (changes && (op.flags & format::kEvidence) == 0) books_.exact = false;
    });
    judge::for_each_evidence(
        ops, result, [&](const format::Step& step, std::span<const script::Evidence> records) {
          const format::Op& op = ops[step.op];
          if (op.code == format::OpCode::kRun && committed(step))
            book(op, integer_of(records[0].payload));
        });
  }

 private:
  void book(const format::Op& op, int64_t result) {
    const auto first = static_cast<uint32_t>(pools_.parameters[op.key]);
    // A transaction changes at most one link. But the result comes from the library's process and
    // is untrusted, so every non-zero result counts as 1.
    if (op.payload == kShowLink && result != 0) ++list(first).added;
    if (op.payload == kHideLink && result != 0) ++list(first).hidden;
    if (!is_list(op.payload)) return;
    const std::string_view from = pools_.varchar_keys[first];
    books_.observations.push_back(
        {.list = *list_of(from), .links = result, .whole = from.size() == kListBytes});
  }

  ListHistory& list(uint32_t key) {
    const uint32_t number = *list_of(pools_.varchar_keys[key]);
    if (books_.lists.size() <= number) books_.lists.resize(number + std::size_t{1});
    return books_.lists[number];
  }

  uint8_t& node(const format::Op& op) {
    const auto id = static_cast<std::size_t>(pools_.int64_keys[op.key]);
    if (books_.nodes.size() <= id) books_.nodes.resize(id + 1);
    return books_.nodes[id];
  }

  const script::Pools& pools_;
  Books& books_;
};

// Adds the records of a scan to a graph.
class Reader {
 public:
  Reader(const script::Script& script, const Books& books, Graph& graph)
      : pools_(script.pools), graph_(graph) {
    graph.lists.resize(books.nodes.size() * kTypes);
    graph.nodes.resize(books.nodes.size());
  }

  void add(uint32_t table, const script::Evidence& record) {
    if (record.code != SUCCESS) return;
    if (table == kNodes) return add_node(integer_of(record.key));
    // Keys of stripes (checks on keys that only one thread uses) begin with '!'.
    if (record.key.starts_with('!')) return;
    std::string_view row = record.payload;
    row.remove_prefix(std::min<std::size_t>(format::kTagBytes, row.size()));
    const std::optional<uint32_t> list = list_of(record.key);
    const std::optional<int64_t> number = format::read_number(row, kLinkKey);
    if (!list || *list >= graph_.lists.size() || !number) return malformed(table, record.key);
    if (table == kCounts) {
      if (record.key.size() != kListBytes) return malformed(table, record.key);
      graph_.lists[*list].count += *number;
      ++graph_.lists[*list].count_rows;
      return;
    }
    if (table == kLinksById2 && *number == kHidden) return;
    if (!belongs(table, record.key, *number)) return malformed(table, record.key);
    if (table == kLinks) ++graph_.lists[*list].links;
    (table == kLinks ? graph_.links : graph_.by_id2).push_back({*number, std::string(row)});
  }

 private:
  void add_node(int64_t id) {
    if (id < 0) return;  // negative keys belong to stripes
    if (static_cast<uint64_t>(id) >= graph_.nodes.size()) {
      return malformed(kNodes, std::to_string(id));
    }
    ++graph_.nodes[static_cast<std::size_t>(id)];
  }

  // Returns true if a record of `table` with this key belongs to a link. `link_key` is the number
  // of the link's key in `links`, counted in the script's list of string keys (pool).
  bool belongs(uint32_t table, std::string_view key, int64_t link_key) const {
    if (link_key >= static_cast<int64_t>(pools_.varchar_keys.size())) return false;
    const std::string_view link = pools_.varchar_keys[static_cast<std::size_t>(link_key)];
    if (link.size() != kLinkBytes) return false;
    return table == kLinks ? key == link : key == pair_of(link);
  }

  void malformed(uint32_t table, std::string_view key) {
    const char* name = table == kNodes        ? "nodes"
                       : table == kLinks      ? "links"
                       : table == kLinksById2 ? "links_by_id2"
                                              : "counts";
    graph_.malformed.push_back("key " + std::string(key) + " in the table \"" + name + '"');
  }

  const script::Pools& pools_;
  Graph& graph_;
};

class Checker {
 public:
  Checker(const script::Pools& pools, const Books& books, const Graph& graph,
          const std::string& when, judge::Findings& findings)
      : pools_(pools), books_(books), graph_(graph), when_(when), findings_(findings) {}

  void run() {
    for (const std::string& key : graph_.malformed) {
      find("malformed_row",
           "the record with " + key + " is not a valid row: the key or the payload is wrong");
    }
    for (std::size_t number = 0; number < graph_.lists.size(); ++number) list(number);
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id) {
      if (graph_.nodes[id] == books_.nodes[id]) continue;
      find("node_count",
           "node " + std::to_string(id) + " has " + count_text(graph_.nodes[id], "record") +
               " in the table \"nodes\", but must have " + std::to_string(books_.nodes[id]));
    }
    agreement();
    if (!books_.exact) return;
    for (const Observation& seen : books_.observations) check_list(seen);
  }

 private:
  // Returns text such as "3 links of type 1", for the links of a list.
  static std::string links_text(int64_t links, std::size_t list) {
    return count_text(links, "link") + " of type " + std::to_string(list % kTypes);
  }

  static std::string node_text(std::size_t list) {
    return "node " + std::to_string(list / kTypes + 1);
  }

  ListHistory history(std::size_t list) const {
    return list < books_.lists.size() ? books_.lists[list] : ListHistory{};
  }

  void find(const char* finding, const std::string& what) {
    findings_.required(finding, when_ + ": " + what);
  }

  void list(std::size_t number) {
    const Graph::List& list = graph_.lists[number];
    if (list.count != list.links || list.count_rows > 1) {
      find("link_count",
           node_text(number) + " has " + links_text(list.links, number) +
               ". The table \"counts\" must give this number in one record, but has " +
               count_text(list.count_rows, "record") + " for it, with the sum " +
               std::to_string(list.count));
    }
    const ListHistory past = history(number);
    const int64_t wanted = past.loaded + past.added - past.hidden;
    if (!books_.exact || list.links == wanted) return;
    find("count_history", node_text(number) + " has " + links_text(list.links, number) +
                              ", but must have " + std::to_string(wanted) + ": " +
                              std::to_string(past.loaded) + " loaded, plus " +
                              std::to_string(past.added) + " added, minus " +
                              std::to_string(past.hidden) + " hidden by committed transactions");
  }

  void agreement() {
    std::vector<Graph::Row> apart;
    std::set_symmetric_difference(graph_.links.begin(), graph_.links.end(), graph_.by_id2.begin(),
                                  graph_.by_id2.end(), std::back_inserter(apart));
    for (const Graph::Row& row : apart) {
      const std::string_view key = pools_.varchar_keys[static_cast<std::size_t>(row.link_key)];
      find("index_agreement", "the link with the key " + std::string(key) +
                                  " must have the same row in the tables \"links\" and "
                                  "\"links_by_id2\", but one of the two rows is missing or "
                                  "different");
    }
  }

  // Transactions ran in an unknown order, some of them after this read. The bounds therefore allow
  // for every order.
  void check_list(const Observation& seen) {
    const ListHistory past = history(seen.list);
    const int64_t low =
        seen.whole ? std::min<int64_t>(past.loaded - past.hidden, format::kListMax) : 0;
    const int64_t high = past.loaded + past.added;
    if (seen.links >= low && seen.links <= high) return;
    findings_.required("impossible_list",
                       "during the run, a transaction read " + links_text(seen.links, seen.list) +
                           " of " + node_text(seen.list) + ", but must have read from " +
                           std::to_string(low) + " to " + std::to_string(high) +
                           ", according to the loaded links and the committed transactions");
  }

  const script::Pools& pools_;
  const Books& books_;
  const Graph& graph_;
  const std::string& when_;
  judge::Findings& findings_;
};

}  // namespace

Books keep_books(const script::Script& script, const script::Outcome& outcome, uint32_t load,
                 std::optional<uint32_t> run) {
  Books books;
  Bookkeeper keeper(script, books);
  for (const std::vector<format::Op>& ops : script.phases[load].threads) keeper.load(ops);
  if (!run) return books;
  for (std::size_t t = 0; t < outcome.phases[*run].threads.size(); ++t) {
    keeper.run(script.phases[*run].threads[t], outcome.phases[*run].threads[t]);
  }
  return books;
}

Graph read_graph(const script::Script& script, const script::Outcome& outcome, uint32_t verify,
                 const Books& books) {
  Graph graph;
  Reader reader(script, books, graph);
  for (std::size_t t = 0; t < outcome.phases[verify].threads.size(); ++t) {
    const std::vector<format::Op>& ops = script.phases[verify].threads[t];
    std::size_t at = 0;
    uint32_t table = kTables;
    const auto visit = [&](const format::Step& step, std::span<const script::Evidence> records) {
      for (; at <= step.op; ++at) {
        if (ops[at].code == format::OpCode::kOpen) table = ops[at].argument;
      }
      for (const script::Evidence& record : records) reader.add(table, record);
    };
    judge::for_each_evidence(ops, outcome.phases[verify].threads[t], visit);
  }
  std::sort(graph.links.begin(), graph.links.end());
  std::sort(graph.by_id2.begin(), graph.by_id2.end());
  return graph;
}

void check_graph(const script::Pools& pools, const Books& books, const Graph& graph,
                 const std::string& when, judge::Findings& findings) {
  Checker(pools, books, graph, when, findings).run();
}

}  // namespace keydrome::linkbench
