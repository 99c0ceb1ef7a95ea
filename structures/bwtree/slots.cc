// Implements slots.h: takes slots from groups, and frees groups.
#include "structures/bwtree/slots.h"

#include <new>
#include <utility>

#include "structures/bwtree/guess.h"
#include "structures/bwtree/latch.h"

namespace keydrome::bwtree {

// Groups are aligned to their size, so the address of a slot gives the address of its group.
struct alignas(kSlotGroup) Slots::Group {
  static constexpr uint32_t kSlots = 255;

  // Number of slots that are in use, plus 1 while new slots come from this group.
  std::atomic<uint32_t> users = 1;
  uint32_t taken = 0;
  alignas(16) Slot slots[kSlots];

  static Group* of(Slot* slot) {
    return reinterpret_cast<Group*>(reinterpret_cast<uintptr_t>(slot) & ~(sizeof(Group) - 1));
  }
};

Slots::~Slots() {
  if (group_ != nullptr) leave(group_);
}

Slot* Slots::make(const Page* page) {
  static_assert(sizeof(Group) == kSlotGroup);
  Slot* slot = take();
  while (slot == nullptr) {
    // Allocates without the latch, because other threads could have to wait long.
    void* memory = memory_.allocate(sizeof(Group), alignof(Group));
    if (memory == nullptr) return nullptr;
    Group* before = new (memory) Group;
    {
      const Latch latch(&latch_);
      if (group_ == nullptr || group_->taken == Group::kSlots) std::swap(before, group_);
    }
    if (before != nullptr) leave(before);
    slot = take();
  }
  slot->page.store(page);
  slot->hint.store(hint_of(base_of(*page)), std::memory_order_relaxed);
  return slot;
}

// Returns nullptr if the group has no slot left.
Slot* Slots::take() {
  const Latch latch(&latch_);
  if (group_ == nullptr || group_->taken == Group::kSlots) return nullptr;
  group_->users.fetch_add(1, std::memory_order_relaxed);
  return &group_->slots[group_->taken++];
}

void Slots::drop(Slot* slot) const { leave(Group::of(slot)); }

// Retires the group if it has no other slot. So a call that fails keeps no memory.
void Slots::undo(Slot* slot) {
  Group* const group = Group::of(slot);
  bool is_empty = false;
  {
    const Latch latch(&latch_);
    if (group == group_ && slot == &group->slots[group->taken - 1]) --group->taken;
    is_empty = group == group_ && group->taken == 0;
    if (is_empty) group_ = nullptr;
  }
  leave(group);
  if (is_empty) leave(group);
}

// The last user retires the group. The order acq_rel makes all accesses of the other users happen
// before this.
void Slots::leave(Group* group) const {
  if (group->users.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  memory_.retire(group, sizeof(Group), alignof(Group));
}

}  // namespace keydrome::bwtree
