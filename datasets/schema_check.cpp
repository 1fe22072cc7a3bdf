#include "datasets/schema_check.h"

#include <map>
#include <utility>

namespace vsb::datasets {
namespace {

using Objects = std::map<std::pair<std::string, std::string>, std::string>;  // type, name -> sql

Objects objects_of(sql::Database& database) {
    Objects objects;
    sql::Statement statement(database, "SELECT type, name, sql FROM sqlite_schema");
    while (statement.step()) {
        objects[{statement.text(0), statement.text(1)}] = statement.text(2);
    }
    return objects;
}

}  // namespace

std::optional<std::string> schema_difference(sql::Database& database,
                                             std::span<const Migration> steps) {
    sql::Database fresh(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX);
    for (const Migration& step : steps)
        fresh.execute(step.script);
    const Objects found = objects_of(database);
    for (const auto& [key, text] : objects_of(fresh)) {
        const auto at = found.find(key);
        if (at == found.end()) return "its " + key.first + " " + key.second + " is missing";
        if (at->second != text) return "its " + key.first + " " + key.second + " was changed";
    }
    for (const auto& [key, text] : found) {
        if (key.first == "trigger") return "it has a trigger, " + key.second;
    }
    return std::nullopt;
}

}  // namespace vsb::datasets
