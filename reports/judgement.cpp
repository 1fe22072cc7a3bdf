#include "reports/judgement.h"

#include <fmt/format.h>

#include "reports/figures.h"

namespace vsb::reports {

Judgement judge(const Comparison& comparison, const Row& row) {
    using Result = Judgement::Result;
    const stats::Comparison& r = row.result;
    const std::string figures =
        fmt::format("{} {}, margin {}", percent(r.change), interval(r.ci),
                    comparison.margin ? plain_percent(*comparison.margin) : "none");
    if (comparison.interim) return {Result::skip, "the run is under way: " + figures};
    const std::string why = fmt::format("{}: {}", stats::verdict_name(r.verdict), figures);
    switch (r.verdict) {
        case stats::Verdict::slower:
            return {Result::fail, why};
        case stats::Verdict::faster:
        case stats::Verdict::equivalent:
            return {Result::pass, why};
        case stats::Verdict::inconclusive:
            break;
    }
    return {comparison.margin ? Result::fail : Result::skip, why};
}

}  // namespace vsb::reports
