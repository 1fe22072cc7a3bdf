#include "harness/cli/names.h"

#include <nlohmann/json.hpp>

namespace vsb::cli {

const char* status_name(datasets::ExperimentStatus status) {
    switch (status) {
        case datasets::ExperimentStatus::running:
            return "running";
        case datasets::ExperimentStatus::finished:
            return "finished";
        case datasets::ExperimentStatus::failed:
            return "failed";
        case datasets::ExperimentStatus::interrupted:
            return "interrupted";
    }
    return "unknown";
}

const char* status_name(datasets::TrialStatus status) {
    switch (status) {
        case datasets::TrialStatus::ok:
            return "ok";
        case datasets::TrialStatus::failed:
            return "failed";
        case datasets::TrialStatus::invalid:
            return "invalid";
        case datasets::TrialStatus::interrupted:
            return "interrupted";
    }
    return "unknown";
}

const char* order_name(datasets::PairOrder order) {
    return order == datasets::PairOrder::ab ? "AB" : "BA";
}

nlohmann::ordered_json json_text(const std::string& text) {
    if (text.empty()) return nullptr;
    return text;
}

}  // namespace vsb::cli
