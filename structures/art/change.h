// Changes one node: adds and removes a child, and copies all children to a larger or smaller kind
// of node.
#pragma once

#include <cstdint>

#include "structures/art/link.h"
#include "structures/art/memory.h"

namespace keydrome::art {

// These functions take nodes of every kind except Fork.

uint32_t child_count(Link node);
bool is_full(Link node);

// Adds a child. The node is not full and has no child for `byte`.
void add_child(Link node, uint8_t byte, Link child);
// Removes the child for `byte`, which exists.
void remove_child(Link node, uint8_t byte);
// Returns the only child of a node.
Link only_child(Link node);

// Returns a copy of a full node that has room, or an empty link if out of memory.
Link grown(Memory& memory, Link node);
// Returns true if the children fit into the next smaller kind, with room.
bool is_sparse(Link node);
// Returns a copy of a sparse node as the next smaller kind, or an empty link if out of memory.
Link shrunk(Memory& memory, Link node);

}  // namespace keydrome::art
