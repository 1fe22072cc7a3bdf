#include "reports/cover_letter.h"

#include <fmt/format.h>

#include "reports/escape.h"
#include "reports/facts.h"
#include "reports/grid.h"
#include "reports/letter_parts.h"
#include "reports/table_grid.h"

namespace vsb::reports {

std::string cover_letter(const Comparison& comparison) {
    std::string out = "Performance:\n\n" + letter_model(comparison);
    if (comparison.interim) {
        out += wrap("INTERIM: the run is under way. These are estimates so far, not a result.",
                    kLetterColumns) +
               "\n";
    }
    if (comparison.record) {
        out += letter_facts(state_facts(comparison)) + "\n";
    } else {
        out += wrap(fmt::format("Imported figures: {}. What A and B are, and where they were "
                                "measured, was not recorded.",
                                shorten(ascii(comparison.experiment), kLongestName)),
                    kLetterColumns) +
               "\n";
    }
    out += letter_facts(method_facts(comparison));
    if (comparison.record) out += "\n" + letter_facts(machine_facts(comparison));
    out += letter_notes(comparison);
    if (comparison.rows.empty()) out += "\nNo rows: nothing to compare.\n";
    // A run of one state against itself has no patch.
    return out + letter_tables(comparison,
                               is_a_a(comparison) ? LetterNames{"A", "B", "A/B"} : LetterNames{});
}

}  // namespace vsb::reports
