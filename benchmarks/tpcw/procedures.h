// Declares the interactions (pages) of TPC-W as procedures, with their parameters. A procedure is
// a list of instructions that the player, the process that calls the library, executes
// (kit/format/procedure.h).
#pragma once

#include <cstdint>

#include "benchmarks/kit/script/script_builder.h"

namespace keydrome::tpcw {

// The numbers of the procedures in the script, with their parameters. Two pairs of pages share a
// procedure: product detail and admin request, and order inquiry and the registration of a known
// customer.
enum Procedure : uint32_t {
  kHome,           // customer, item
  kNewProducts,    // a key range of subject_items: from, end
  kBestSellers,    // number of newest orders to read
  kProductDetail,  // item
  kPromotion,      // item: reads its related items
  kSearchTitle,    // a key range of titles: from, end
  kLookUp,         // name
  kRegister,       // RegisterParameter
  kCart,           // CartParameter
  kBuyRequest,     // CartParameter, then the name
  kBuyConfirm,     // CartParameter, then ConfirmParameter
  kOrderDisplay,   // name
  kAdminConfirm,   // AdminParameter
  kProcedures
};

// The parameters of kRegister. A text or string is given by its number in the script's lists
// (pools).
enum RegisterParameter : uint32_t {
  kNewName,
  kNewNameText,
  kNewCustomer,
  kNewCustomerText,
  kNewAddress,
  kNewAddressText,
  kRegisterParameters
};

// The parameters of the cart procedures. kCart adds the item or changes its quantity. The other
// procedures add the item only to an empty cart.
enum CartParameter : uint32_t {
  kCartFrom,  // cart_key of item 0
  kCartEnd,
  kCartText,   // text of a blank row
  kCartBook,   // number of the item
  kCartCount,  // quantity
  kCartParameters
};

enum ConfirmParameter : uint32_t {
  kConfirmCustomer = kCartParameters,
  kConfirmOrder,  // number of the order
  kConfirmKey,    // order_key of the order
  kConfirmByCustomer,
  kConfirmText,    // text of an order that is blank except for the date
  kConfirmNumber,  // text of a blank order number
  kConfirmLine,    // text of a blank line
  kConfirmParameters
};

enum AdminParameter : uint32_t { kAdminItem, kAdminPrice, kAdminDate, kAdminParameters };

inline constexpr uint8_t kPage = 50;  // maximum number of entries that a list page shows

// Adds all procedures. `newest_orders` is the number of orders that BestSellers reads.
void add_procedures(script::ScriptBuilder& builder, uint32_t newest_orders);

}  // namespace keydrome::tpcw
