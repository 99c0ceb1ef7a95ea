// GraphKeys: adds the keys of the social graph of the benchmark "linkbench" to the script's pools,
// and computes their numbers. A pool is the numbered list of all keys of one type.
//
// Nodes and lists (the links of one node and one type) are numbered from 0; list number = node *
// kTypes + type. A node's number is also the pool number of its key. The pool of strings contains,
// in this order:
//
//   1. for each node the keys of its lists, and a key that follows all links of the node
//   2. the keys of all loaded links in `links`, list by list
//   3. the keys of all loaded links in `links_by_id2` (pairs), in the same order
//   4. keys that the run adds
//
// The record of a link contains the number of the link's key in `links`. Procedures, transactions
// whose calls depend on earlier reads, read this number from the record and use the key.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/linkbench/keys.h"

namespace keydrome::linkbench {

class GraphKeys {
 public:
  // Adds the keys of all nodes, lists and loaded links. `degrees` contains the number of loaded
  // links of each node. The links of a node are divided evenly among the types. Reserves memory for
  // `spare_texts` texts that the caller adds later.
  GraphKeys(script::ScriptBuilder& builder, std::span<const uint32_t> degrees,
            uint32_t spare_texts);

  static uint32_t id_of(uint32_t node) { return node + 1; }
  static uint32_t key_of_list(uint32_t list) {
    return list / kTypes * (kTypes + 1) + list % kTypes;
  }

  uint32_t nodes() const { return nodes_; }
  uint32_t lists() const { return nodes_ * kTypes; }
  // Return the number of loaded links of the whole graph, and of one list.
  uint32_t links() const { return first_link_.back(); }
  uint32_t links_of(uint32_t list) const { return first_link_[list + 1] - first_link_[list]; }

  // Return the pool numbers of a loaded link's two keys. Links are numbered list by list.
  uint32_t link_key(uint32_t link) const { return nodes_ * (kTypes + 1) + link; }
  uint32_t pair_key(uint32_t link) const { return link_key(links()) + link; }
  uint32_t first_link(uint32_t list) const { return first_link_[list]; }

  // Returns the key in `links_by_id2` of link i of a list, and adds the key if it is new. Link i,
  // loaded or not, leads to the node i positions after the list's own node.
  uint32_t pair_of_list(uint32_t list, uint32_t i);
  // Adds a new key of link i to `links`. In key order it is before all other links of the list.
  uint32_t add_newer_link(uint32_t list, uint32_t i);
  // Adds the key of a new node.
  uint32_t add_node();

 private:
  template <typename Write>
  uint32_t add_key(const Write& write);
  template <typename Append>
  void add_link_keys(const Append& append);

  script::ScriptBuilder& builder_;
  uint32_t nodes_;
  // The number of the first link of each list, and at the end the number of all links.
  std::vector<uint32_t> first_link_ = {0};
  // The pool numbers of keys in `links_by_id2` for links that were not loaded, by list << 32 | i.
  std::unordered_map<uint64_t, uint32_t> later_pairs_;
  uint32_t next_id_, time_ = 0;
  std::string key_;  // buffer for the key that is being written
};

}  // namespace keydrome::linkbench
