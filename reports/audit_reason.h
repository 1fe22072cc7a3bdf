#pragma once
// Why a printed row is inconsistent, and which value in its place would agree.

#include <string>

#include "stats/published_row.h"

namespace vsb::reports {

// The row's numbers as printed; empty where there is none.
struct PrintedRow {
    std::string change;
    std::string low;
    std::string high;
    std::string a;
    std::string b;
};

// One sentence for a check that found the row inconsistent. A value it names makes the row
// consistent when it alone is put in; it has as many decimals as the one it would replace.
std::string audit_reason(const PrintedRow& texts, const stats::PublishedRow& row,
                         const stats::RowCheck& check);

}  // namespace vsb::reports
