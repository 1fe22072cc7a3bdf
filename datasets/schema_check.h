#pragma once
// Whether a store's tables and views are those that the migrations make.

#include <optional>
#include <span>
#include <string>

#include "datasets/migrations.h"
#include "datasets/sqlite.h"

namespace vsb::datasets {

// nullopt when every object of the schema is there with its own text; otherwise what differs.
// Views, tables and indexes that a user added are let be, triggers are not: they would act inside
// our transactions.
std::optional<std::string> schema_difference(sql::Database& database,
                                             std::span<const Migration> steps);

}  // namespace vsb::datasets
