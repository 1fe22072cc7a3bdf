#include "datasets/sqlite.h"

namespace vsb::datasets::sql {

Database::Database(const std::string& name, int flags) {
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
    handle_.reset(handle);  // a handle comes back from most failures too, and must be closed
    if (code != SQLITE_OK) {
        const int extended = handle != nullptr ? sqlite3_extended_errcode(handle) : code;
        throw Error(extended, handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code));
    }
    sqlite3_extended_result_codes(handle, 1);
}

void Database::check(int code, std::string_view doing) {
    if (code == SQLITE_OK) return;
    throw Error(code, std::string(doing) + ": " + sqlite3_errmsg(handle()));
}

void Database::execute(const char* script) {
    const int code = sqlite3_exec(handle(), script, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) throw Error(code, sqlite3_errmsg(handle()));
}

std::int64_t Database::integer(const char* query) {
    Statement statement(*this, query);
    if (!statement.step()) throw Error(SQLITE_EMPTY, std::string("no answer to ") + query);
    return statement.integer(0);
}

std::string Database::text(const char* query) {
    Statement statement(*this, query);
    if (!statement.step()) throw Error(SQLITE_EMPTY, std::string("no answer to ") + query);
    return statement.text(0);
}

Statement::Statement(Database& database, std::string_view query) : database_(&database) {
    sqlite3_stmt* statement = nullptr;
    database.check(sqlite3_prepare_v2(database.handle(), query.data(),
                                      static_cast<int>(query.size()), &statement, nullptr),
                   "preparing a statement");
    statement_.reset(statement);
}

Statement& Statement::bind(int parameter, std::int64_t value) {
    database_->check(sqlite3_bind_int64(statement_.get(), parameter, value), "binding");
    return *this;
}

Statement& Statement::bind(int parameter, double value) {
    database_->check(sqlite3_bind_double(statement_.get(), parameter, value), "binding");
    return *this;
}

Statement& Statement::bind(int parameter, std::string_view value) {
    // A null pointer would bind NULL, and an empty view may hold one.
    const char* data = value.data() != nullptr ? value.data() : "";
    database_->check(sqlite3_bind_text64(statement_.get(), parameter, data, value.size(),
                                         SQLITE_TRANSIENT, SQLITE_UTF8),
                     "binding");
    return *this;
}

Statement& Statement::bind(int parameter, std::span<const std::uint8_t> value) {
    const void* data = value.data() != nullptr ? static_cast<const void*>(value.data()) : "";
    database_->check(
        sqlite3_bind_blob64(statement_.get(), parameter, data, value.size(), SQLITE_TRANSIENT),
        "binding");
    return *this;
}

Statement& Statement::bind_null(int parameter) {
    database_->check(sqlite3_bind_null(statement_.get(), parameter), "binding");
    return *this;
}

bool Statement::step() {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    const Error error(code, sqlite3_errmsg(database_->handle()));
    sqlite3_reset(statement_.get());
    throw error;
}

void Statement::run() {
    while (step()) {
    }
    reset();
}

void Statement::reset() {
    sqlite3_reset(statement_.get());
}

bool Statement::is_null(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const {
    return sqlite3_column_double(statement_.get(), column);
}

std::string Statement::text(int column) const {
    const auto* data = sqlite3_column_text(statement_.get(), column);
    if (data == nullptr) return {};
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
    return {reinterpret_cast<const char*>(data), size};
}

std::span<const std::uint8_t> Statement::blob(int column) const {
    const auto* data =
        static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_.get(), column));
    if (data == nullptr) return {};
    return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Transaction::Transaction(Database& database, Kind kind) : database_(&database) {
    database.execute(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
    // Some errors (disk full, I/O) have rolled the transaction back already.
    if (open_ && sqlite3_get_autocommit(database_->handle()) == 0) {
        sqlite3_exec(database_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
    }
}

void Transaction::commit() {
    database_->execute("COMMIT");
    open_ = false;
}

}  // namespace vsb::datasets::sql
