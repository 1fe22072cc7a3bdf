#pragma once
// From a path to a connection that is known to be one of our stores, whole, and of this schema.

#include <filesystem>
#include <span>

#include "datasets/migrations.h"
#include "datasets/sqlite.h"
#include "datasets/store.h"

namespace vsb::datasets {

// What Store::open does, with the steps to migrate by as a parameter. Throws StoreUnusable. The
// file of somebody else is never written; ours is never deleted and never half-migrated.
sql::Database open_checked(const std::filesystem::path& file, OpenMode mode,
                           std::span<const Migration> steps = migrations());

}  // namespace vsb::datasets
