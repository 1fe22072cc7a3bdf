#pragma once
// Names of stored values as users read them, in text and in JSON.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "datasets/records.h"

namespace vsb::cli {

const char* status_name(datasets::ExperimentStatus status);
const char* status_name(datasets::TrialStatus status);
const char* order_name(datasets::PairOrder order);

// null where the text is empty: a time that is not there yet, a reason that is not needed.
nlohmann::ordered_json json_text(const std::string& text);

}  // namespace vsb::cli
