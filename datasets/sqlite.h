#pragma once
// A thin owner of sqlite3 handles: connections, statements, transactions. Errors are thrown with
// their extended result code. One thread at a time per connection; never carried across fork().

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace vsb::datasets::sql {

struct Error : std::runtime_error {
    Error(int extended_code, const std::string& what)
        : std::runtime_error(what), code(extended_code) {}
    int primary() const { return code & 0xff; }
    int code;  // extended: SQLITE_IOERR_FSYNC, SQLITE_CONSTRAINT_UNIQUE, ...
};

class Database {
  public:
    // flags as of sqlite3_open_v2.
    Database(const std::string& name, int flags);

    void execute(const char* script);
    std::int64_t integer(const char* query);  // first column of the first row; throws when none
    std::string text(const char* query);      // likewise
    // Throws with the connection's message unless code is SQLITE_OK.
    void check(int code, std::string_view doing);

    sqlite3* handle() const { return handle_.get(); }

  private:
    struct Close {
        void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
    };
    std::unique_ptr<sqlite3, Close> handle_;
};

// Parameters are bound by position from 1, columns read by position from 0. Text and blobs are
// copied when bound.
class Statement {
  public:
    Statement(Database& database, std::string_view query);

    Statement& bind(int parameter, std::int64_t value);
    Statement& bind(int parameter, double value);
    Statement& bind(int parameter, std::string_view value);
    Statement& bind(int parameter, std::span<const std::uint8_t> value);
    Statement& bind_null(int parameter);

    bool step();  // true: a row
    void run();   // step() to the end, then reset()
    void reset();

    bool is_null(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;
    std::string text(int column) const;
    std::span<const std::uint8_t> blob(int column) const;  // valid until the next step or reset

  private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    Database* database_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Rolled back unless committed. `write` takes the write lock at once (BEGIN IMMEDIATE): a
// transaction that starts as a reader and upgrades is refused at once, without any waiting, when
// somebody wrote meanwhile.
class Transaction {
  public:
    enum class Kind : std::uint8_t { read, write };
    Transaction(Database& database, Kind kind);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

  private:
    Database* database_;
    bool open_ = true;
};

}  // namespace vsb::datasets::sql
