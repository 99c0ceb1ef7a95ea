// Implements the transactions of the benchmark "linkbench" that depend on their own reads, as
// lists of instructions (procedures) that the player, the process that calls the library, executes.
#include "benchmarks/linkbench/procedures.h"

#include <string>

#include "benchmarks/kit/script/procedure_helpers.h"

namespace keydrome::linkbench {
namespace {

using script::ProcedureBuilder;

enum Register : uint8_t { kZero, kOne, kList, kPair, kNewKey, kText, kOldKey, kNumber, kBlank };
enum RowNumber : uint8_t { kLinkRow, kOldRow, kCountRow };

// Calls that a list procedure may make in addition to one call for each loaded link, because the
// run can add links to the list.
constexpr uint32_t kMargin = 8;
constexpr uint32_t kShortMax = 8, kMediumMax = 128;

// Adds 1 to the count of the list. Inserts the first count of a list that never had links.
void count_one_more(ProcedureBuilder& p, uint32_t blank_text) {
  const ProcedureBuilder::Label first = p.label(), add = p.label();
  p.set(kNumber, 0);
  p.get(kCounts, kList, kCountRow, first);
  p.load(kNumber, kCountRow, kCount);
  p.remove(kCounts, kList);
  p.jump(add);
  p.place(first);
  p.set(kBlank, static_cast<int32_t>(blank_text));
  p.text(kCountRow, kBlank);
  p.place(add);
  p.add(kNumber, kNumber, kOne);
  p.store(kCountRow, kCount, kNumber);
  p.insert(kCounts, kList, kCountRow);
}

ProcedureBuilder show_link(uint32_t blank_text) {
  ProcedureBuilder p;
  const ProcedureBuilder::Label appears = p.label(), write = p.label();
  script::set_zero_and_one(p, kZero, kOne);
  script::take_parameters(p, {kList, kPair, kNewKey, kText});
  p.text(kLinkRow, kText);
  p.store(kLinkRow, kLinkKey, kNewKey);
  p.get(kLinksById2, kPair, kOldRow, appears);
  p.load(kOldKey, kOldRow, kLinkKey);
  p.remove(kLinksById2, kPair);
  p.jump_if_equal(kOldKey, kZero, appears);
  p.remove(kLinks, kOldKey);
  p.jump(write);
  p.place(appears);
  count_one_more(p, blank_text);
  p.result(kOne);
  p.place(write);
  p.insert(kLinksById2, kPair, kLinkRow);
  p.insert(kLinks, kNewKey, kLinkRow);
  p.end();
  return p;
}

ProcedureBuilder hide_link() {
  ProcedureBuilder p;
  const ProcedureBuilder::Label gone = p.label();
  script::set_zero_and_one(p, kZero, kOne);
  script::take_parameters(p, {kList, kPair});
  p.get(kLinksById2, kPair, kLinkRow, gone);
  p.load(kOldKey, kLinkRow, kLinkKey);
  p.jump_if_equal(kOldKey, kZero, gone);
  p.remove(kLinks, kOldKey);
  p.store(kLinkRow, kLinkKey, kZero);
  p.replace(kLinksById2, kPair, kLinkRow);
  p.get(kCounts, kList, kCountRow);
  script::subtract_from_field(p, kCountRow, kCount, kOne, kNumber);
  p.replace(kCounts, kList, kCountRow);
  p.result(kOne);
  p.place(gone);
  p.end();
  return p;
}

ProcedureBuilder replace_node() {
  ProcedureBuilder p;
  const ProcedureBuilder::Label gone = p.label();
  script::take_parameters(p, {kNumber, kText});
  p.get(kNodes, kNumber, kOldRow, gone);
  p.text(kLinkRow, kText);
  p.replace(kNodes, kNumber, kLinkRow);
  p.place(gone);
  p.end();
  return p;
}

ProcedureBuilder list_links() {
  ProcedureBuilder p;
  script::take_parameters(p, {kList, kPair});
  p.scan(kLinks, kList, kPair, kLinkKey);
  p.count(kNumber);
  p.result(kNumber);
  p.end();
  return p;
}

}  // namespace

Procedure list_procedure(uint32_t links) {
  if (links <= kShortMax) return kShortList;
  return links <= kMediumMax ? kMediumList : kLongList;
}

void add_procedures(script::ScriptBuilder& builder) {
  static_assert(kHidden == 0);  // the procedures write kHidden from register kZero
  const uint32_t blank = builder.add_text(std::string(kCount.width, format::kDigitZero));
  const auto add = [&](Procedure number, const ProcedureBuilder& code,
                       const script::ProcedureLimits& limits) {
    script::add_numbered_procedure(builder, number, code, limits);
  };
  add(kShowLink, show_link(blank), {.parameters = 4, .tags = 3, .calls = 8});
  add(kHideLink, hide_link(), {.parameters = 2, .tags = 2, .calls = 7});
  add(kReplaceNode, replace_node(), {.parameters = 2, .tags = 1, .calls = 3});
  add(kShortList, list_links(), {.parameters = 2, .tags = 0, .calls = kShortMax + kMargin});
  add(kMediumList, list_links(), {.parameters = 2, .tags = 0, .calls = kMediumMax + kMargin});
  add(kLongList, list_links(), {.parameters = 2, .tags = 0, .calls = format::kListMax + 1});
}

}  // namespace keydrome::linkbench
