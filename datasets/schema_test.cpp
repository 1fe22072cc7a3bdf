// SCHEMA.md against the schema, and the views against the code that pairs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "datasets/csv.h"
#include "datasets/store_fixture.h"

namespace vsb::datasets {
namespace {

// Table or view -> its columns, in order.
using Schema = std::map<std::string, std::vector<std::string>>;

Schema stored_schema(const std::filesystem::path& file) {
    sql::Database database(file.string(), SQLITE_OPEN_READWRITE);
    Schema schema;
    sql::Statement rows(database,
                        "SELECT s.name, c.name FROM sqlite_schema AS s "
                        "JOIN pragma_table_info(s.name) AS c WHERE s.type IN ('table', 'view') "
                        "AND s.name NOT LIKE 'sqlite_%' ORDER BY s.name, c.cid");
    while (rows.step())
        schema[rows.text(0)].push_back(rows.text(1));
    return schema;
}

struct Document {
    Schema schema;
    std::vector<std::string> queries;
};

// "### name" starts a table, "| column | ..." names its columns.
Document documented() {
    std::istringstream in(read_bytes(std::filesystem::path(VSB_SOURCE_DIR) / "datasets/SCHEMA.md"));
    Document document;
    std::string name;
    std::string query;
    bool in_query = false;
    for (std::string line; std::getline(in, line);) {
        if (line == "```sql") {
            in_query = true;
        } else if (line == "```" && in_query) {
            in_query = false;
            document.queries.push_back(std::exchange(query, {}));
        } else if (in_query) {
            query += line + "\n";
        } else if (line.starts_with("#")) {
            name = line.starts_with("### ") ? line.substr(4) : "";
            if (!name.empty()) document.schema[name];
        } else if (!name.empty() && line.starts_with("| ")) {
            const std::string column = line.substr(2, line.find(' ', 2) - 2);
            if (column != "column") document.schema[name].push_back(column);
        }
    }
    return document;
}

class SchemaTest : public testing::Test {
  protected:
    SchemaTest() : store_(Store::open(file(), OpenMode::read_write)) {}
    std::filesystem::path file() const { return scratch_.file("runs.db"); }
    Store& store() { return store_; }

  private:
    ScratchFolder scratch_;
    Store store_;
};

TEST_F(SchemaTest, TheDocumentNamesEveryTableViewAndColumn) {
    EXPECT_EQ(documented().schema, stored_schema(file()));
}

TEST_F(SchemaTest, TheDocumentsQueriesRunAndFind) {
    const auto experiment = store().create(small_experiment());
    record_pairs(store(), experiment, 3);
    auto failed = ok_trial(experiment, 1, 0, 1, PairOrder::ab, 1);
    failed.status = TrialStatus::failed;
    failed.reason = "a guest oopsed";
    store().add(experiment.id, failed);
    const auto queries = documented().queries;
    ASSERT_GE(queries.size(), 8U);
    for (const std::string& query : queries) {
        sql::Database database(file().string(), SQLITE_OPEN_READWRITE);
        if (query.find("DELETE") != std::string::npos) {
            database.execute(query.c_str());
            continue;
        }
        EXPECT_TRUE(sql::Statement(database, query).step()) << query;
    }
    EXPECT_EQ(query_text(file(),
                         "SELECT whole_pairs || ' ' || planned_pairs || ' ' || ok_runs || ' ' || "
                         "lost_runs FROM v_progress WHERE workload = 'fixed/64B'"),
              "3 4 6 0");
    EXPECT_EQ(query_text(file(), "SELECT workload || ': ' || reason FROM v_lost_runs"),
              "rtt/4K: a guest oopsed");
    EXPECT_EQ(query_text(file(), "SELECT states || ' ' || ok_runs FROM v_experiments"),
              "A: policy=per-packet | B: policy=deferred-notify 6");
}

TEST_F(SchemaTest, DeletingAnExperimentTakesAllOfIt) {
    const auto experiment = store().create(small_experiment());
    record_pairs(store(), experiment, 3);
    run_sql(file(), "PRAGMA foreign_keys = ON; DELETE FROM experiment");
    for (const auto& [name, columns] : stored_schema(file())) {
        EXPECT_EQ(query_integer(file(), "SELECT count(*) FROM " + name), 0) << name;
    }
}

// Two ways to the same pairs: the view's rows through the CSV reader, and Store::paired.
TEST_F(SchemaTest, ComparisonInputIsWhatPairedGives) {
    const auto experiment = store().create(small_experiment());
    record_pairs(store(), experiment, 5);
    store().add(experiment.id, ok_trial(experiment, 0, 0, 6, PairOrder::ab, 9));
    auto second_try = ok_trial(experiment, 0, 1, 6, PairOrder::ab, 9);
    second_try.attempt = 2;
    store().add(experiment.id, second_try);

    std::string csv = "workload,pair,order,state,value,metric,unit\n";
    sql::Database database(file().string(), SQLITE_OPEN_READWRITE);
    sql::Statement rows(database,
                        "SELECT workload || ',' || pair || ',' || \"order\" || ',' || state || "
                        "',' || format('%!.17g', value) || ',' || metric || ',' || unit "
                        "FROM v_comparison_input WHERE experiment_id = 1 "
                        "ORDER BY metric DESC, pair, state");
    while (rows.step())
        csv += rows.text(0) + "\n";
    std::istringstream in(csv);
    const auto from_view = read_csv(in, "view", {});
    const auto from_store = store().paired(experiment.id);
    ASSERT_EQ(from_view.size(), 2U);
    EXPECT_EQ(from_store.at(0).pairs.size(), 5U);
    EXPECT_EQ(from_store.at(0).lost_a + from_store.at(0).lost_b, 0U);
    std::istringstream exported(to_csv(from_store));
    const auto from_export = read_csv(exported, "export", {});
    EXPECT_EQ(to_csv(from_view), to_csv(from_store));
    EXPECT_EQ(to_csv(from_export), to_csv(from_store));
}

}  // namespace
}  // namespace vsb::datasets
