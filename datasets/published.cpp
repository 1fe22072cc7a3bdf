#include "datasets/published.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "datasets/csv_fields.h"

namespace vsb::datasets {
namespace {

constexpr std::size_t kFieldCap = 1000;
constexpr std::size_t kFixedColumns = 3;  // record, table, text; the figures' columns follow

std::optional<std::size_t> whole_number(std::string_view text) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

class Reader {
  public:
    explicit Reader(std::string_view name) { series_.name = name; }

    void line(std::string_view text) {
        ++number_;
        const CsvLine fields = split_csv_line(text, kFieldCap);
        if (!fields.why.empty()) fail(fields.why);
        if (number_ == 1) {
            header(fields.fields);
        } else if (fields.fields.size() != columns_.size()) {
            fail("has " + std::to_string(fields.fields.size()) + " fields, the header has " +
                 std::to_string(columns_.size()));
        } else {
            record(fields.fields);
        }
    }

    PublishedSeries take() {
        if (series_.series.empty() || series_.posted.empty()) fail("no series or no date so far");
        for (const PublishedTable& table : series_.tables) {
            if (table.rows.empty()) fail("a table without a row");
        }
        return std::move(series_);
    }

  private:
    [[noreturn]] void fail(const std::string& why) const {
        throw std::invalid_argument(series_.name + ":" + std::to_string(number_) + ": " + why);
    }

    void header(const std::vector<std::string>& names) {
        const std::vector<std::string> fixed{"record", "table", "text", "label"};
        if (names.size() < fixed.size() || !std::equal(fixed.begin(), fixed.end(), names.begin())) {
            fail("the header does not start with record,table,text,label");
        }
        columns_ = names;
    }

    void record(const std::vector<std::string>& fields) {
        const std::string& kind = fields[0];
        const std::string& text = fields[2];
        if (kind == "series") {
            series_.series = text;
        } else if (kind == "posted") {
            series_.posted = text;
        } else {
            PublishedTable& table = table_of(fields[1]);
            if (kind == "section") {
                table.section.push_back(text);
            } else if (kind == "caption") {
                table.caption.push_back(text);
            } else if (kind == "heading") {
                table.headings.push_back(text);
            } else if (kind == "layout") {
                layout_.push_back(text);
            } else if (kind == "pairs") {
                table.pairs = whole_number(text);
                if (!table.pairs) fail("'" + text + "' is no number of pairs");
            } else if (kind == "row") {
                row(table, fields);
            } else {
                fail("'" + kind + "' is no kind of record");
            }
        }
    }

    // Tables are numbered from 1, in the order printed.
    PublishedTable& table_of(const std::string& field) {
        const auto wanted = whole_number(field);
        if (wanted && *wanted == series_.tables.size() + 1) {
            series_.tables.emplace_back();
            layout_.clear();
        }
        if (!wanted || *wanted == 0 || *wanted != series_.tables.size()) {
            fail("'" + field + "' is neither this table's number nor the next one");
        }
        return series_.tables.back();
    }

    void row(PublishedTable& table, const std::vector<std::string>& fields) {
        PublishedFigures figures;
        figures.layout = fields[2].empty() ? layout_ : PublishedLayout{fields[2]};
        for (std::size_t i = kFixedColumns; i < fields.size(); ++i) {
            if (!fields[i].empty()) figures.figures[columns_[i]] = fields[i];
        }
        if (figures.layout.empty()) fail("a row before its table's layout");
        for (const std::string& line : figures.layout)
            check_layout(line, figures);
        table.rows.push_back(std::move(figures));
    }

    void check_layout(std::string_view line, const PublishedFigures& row) const {
        for (auto open = line.find('{'); open != std::string_view::npos; open = line.find('{')) {
            const auto close = line.find('}', open);
            if (close == std::string_view::npos) fail("a layout's brace is not closed");
            const std::string column(line.substr(open + 1, close - open - 1));
            if (!row.figures.contains(column)) fail("the row has no figure '" + column + "'");
            line.remove_prefix(close + 1);
        }
    }

    PublishedSeries series_;
    std::vector<std::string> columns_;
    PublishedLayout layout_;
    std::size_t number_ = 0;
};

}  // namespace

const PublishedFile* find_published(std::string_view name) {
    const auto files = published_files();
    const auto at = std::ranges::find(files, name, &PublishedFile::name);
    return at == files.end() ? nullptr : &*at;
}

PublishedSeries parse_published(std::string_view name, std::string_view csv) {
    Reader reader(name);
    while (!csv.empty()) {
        const std::string_view line = csv.substr(0, csv.find('\n'));
        reader.line(line);
        csv.remove_prefix(std::min(csv.size(), line.size() + 1));
    }
    return reader.take();
}

}  // namespace vsb::datasets
