// Defines the fourteen interactions (pages) of TPC-W and their percentages in its three mixes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace keydrome::tpcw {

enum Interaction : uint32_t {
  kHomePage,
  kNewProductsPage,
  kBestSellersPage,
  kProductDetailPage,
  kSearchRequestPage,
  kSearchResultsPage,
  kShoppingCartPage,
  kCustomerRegistrationPage,
  kBuyRequestPage,
  kBuyConfirmPage,
  kOrderInquiryPage,
  kOrderDisplayPage,
  kAdminRequestPage,
  kAdminConfirmPage,
  kInteractions
};

// The transaction classes, by which the report groups latencies. Some interactions share a class,
// because a script can have only seven classes in addition to "check". BestSellers, the longest
// interaction, and BuyConfirm, the one with most writes, have classes of their own.
inline constexpr std::array kClasses = {"home", "search",      "best_sellers",    "product_detail",
                                        "cart", "buy_confirm", "orders_and_admin"};
inline constexpr std::array<uint32_t, kInteractions> kClassOf = {0, 1, 2, 3, 1, 1, 4,
                                                                 4, 4, 5, 6, 6, 6, 6};
inline constexpr uint32_t kBuyConfirmClass = 5;

// The sum of the shares of a mix. A share is in hundredths of a percent.
inline constexpr uint32_t kWhole = 10'000;
using Shares = std::array<uint32_t, kInteractions>;
struct Mix {
  std::string_view instance;
  Shares shares;
};

constexpr uint32_t sum_of(const Shares& shares) {
  uint32_t sum = 0;
  for (const uint32_t share : shares) sum += share;
  return sum;
}

inline constexpr std::array kMixes = {
    Mix{"browsing", {2900, 1100, 1100, 2100, 1200, 1100, 200, 82, 75, 69, 30, 25, 10, 9}},
    Mix{"shopping", {1600, 500, 500, 1700, 2000, 1700, 1160, 300, 260, 120, 75, 66, 10, 9}},
    Mix{"ordering", {912, 46, 46, 1235, 1453, 1308, 1353, 1286, 1273, 1018, 25, 22, 12, 11}},
};
static_assert(sum_of(kMixes[0].shares) == kWhole);
static_assert(sum_of(kMixes[1].shares) == kWhole);
static_assert(sum_of(kMixes[2].shares) == kWhole);

}  // namespace keydrome::tpcw
