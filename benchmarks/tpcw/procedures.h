// The interactions as procedures (kit/procedure.h), and what parameters each takes.
#pragma once

#include <cstdint>

#include "benchmarks/kit/script_builder.h"

namespace keydrome::tpcw {

// Also the number in the script. Product detail and admin request are the same, and so are a
// returning customer's registration and order inquiry.
enum Procedure : uint32_t {
  kHome,           // customer, item
  kNewProducts,    // the range of items_by_subject
  kBestSellers,    // how many orders are looked at
  kProductDetail,  // item
  kPromotion,      // item: what is shown with it
  kSearchTitle,    // the range of titles
  kLookUp,         // name
  kRegister,       // RegisterParameter
  kCart,           // CartParameter
  kBuyRequest,     // CartParameter, then the name
  kBuyConfirm,     // CartParameter, then ConfirmParameter
  kOrderDisplay,   // name
  kAdminConfirm,   // AdminParameter
  kProcedures
};

// Numbers of texts and strings are those of the script's pools.
enum RegisterParameter : uint32_t {
  kNewName,
  kNewNameText,
  kNewCustomer,
  kNewCustomerText,
  kNewAddress,
  kNewAddressText,
  kRegisterParameters
};

// Of kCart the item that is put in, or whose quantity changes; the others put it into a cart that
// is empty.
enum CartParameter : uint32_t {
  kCartFrom,  // cart_key of item 0
  kCartEnd,
  kCartText,  // blank
  kCartBook,
  kCartCount,  // quantity
  kCartParameters
};

enum ConfirmParameter : uint32_t {
  kConfirmCustomer = kCartParameters,
  kConfirmOrder,  // number
  kConfirmKey,    // order_key
  kConfirmByCustomer,
  kConfirmText,    // blank but for the date
  kConfirmNumber,  // blank
  kConfirmLine,    // blank
  kConfirmParameters
};

enum AdminParameter : uint32_t { kAdminItem, kAdminPrice, kAdminDate, kAdminParameters };

inline constexpr uint8_t kPage = 50;  // entries of a list that is shown

// Adds all of them. `newest_orders` is how many BestSellers looks at.
void add_procedures(ScriptBuilder& script, uint32_t newest_orders);

}  // namespace keydrome::tpcw
