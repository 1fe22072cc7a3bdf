#include "datasets/csv_fields.h"

#include <algorithm>
#include <utility>

namespace vsb::datasets {
namespace {

constexpr std::size_t kChunk = 65536;

// Length of the well-formed UTF-8 sequence at the start of text; 0 when there is none
// (Unicode 15, table 3-7: no surrogates, nothing overlong, nothing past U+10FFFF).
std::size_t sequence_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto continues = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
        return i < text.size() && byte(i) >= low && byte(i) <= high;
    };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    if (lead >= 0xc2 && lead <= 0xdf) return continues(1) ? 2 : 0;
    if (lead >= 0xe0 && lead <= 0xef) {
        const unsigned low = lead == 0xe0 ? 0xa0 : 0x80;
        const unsigned high = lead == 0xed ? 0x9f : 0xbf;
        return continues(1, low, high) && continues(2) ? 3 : 0;
    }
    if (lead >= 0xf0 && lead <= 0xf4) {
        const unsigned low = lead == 0xf0 ? 0x90 : 0x80;
        const unsigned high = lead == 0xf4 ? 0x8f : 0xbf;
        return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
    }
    return 0;
}

// Takes one field off the front of rest, which then starts with a comma or is empty.
std::string take_field(std::string_view& rest, std::string& why) {
    if (rest.empty() || rest.front() != '"') {
        const std::string_view field = rest.substr(0, rest.find(','));
        if (field.find('"') != std::string_view::npos) {
            why =
                "a quote inside a field that is not quoted (quote the whole field, and double "
                "the quotes in it)";
        }
        rest.remove_prefix(field.size());
        return std::string(field);
    }
    rest.remove_prefix(1);
    std::string field;
    while (true) {
        const std::size_t quote = rest.find('"');
        if (quote == std::string_view::npos) {
            why = "the quoted field does not end on its line";
            rest = {};
            return field;
        }
        field += rest.substr(0, quote);
        rest.remove_prefix(quote + 1);
        if (rest.empty() || rest.front() == ',') return field;
        if (rest.front() != '"') {
            why = "text after the closing quote";
            return field;
        }
        field += '"';
        rest.remove_prefix(1);
    }
}

}  // namespace

CsvLine split_csv_line(std::string_view line, std::size_t field_cap) {
    CsvLine result;
    std::string_view rest = line;
    while (true) {
        std::string field = take_field(rest, result.why);
        if (result.why.empty() && field.size() > field_cap) {
            result.why = "the field is longer than " + std::to_string(field_cap) + " bytes";
        }
        if (!result.why.empty()) {
            result.bad_field = result.fields.size();
            return result;
        }
        result.fields.push_back(std::move(field));
        if (rest.empty()) return result;
        rest.remove_prefix(1);
    }
}

std::optional<std::string> text_fault(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        if (length == 0) return "it is not UTF-8";
        const auto byte = static_cast<unsigned char>(text.front());
        const bool c1 = length == 2 && byte == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
        if (byte < 0x20 || byte == 0x7f || c1) return "it holds a control character";
        text.remove_prefix(length);
    }
    return std::nullopt;
}

CsvLines::CsvLines(std::istream& in, std::string name, const CsvCaps& caps)
    : in_(&in), name_(std::move(name)), caps_(caps) {}

void CsvLines::fail(const std::string& why) const {
    throw CsvError(name_ + ":" + std::to_string(number_) + ": column 1: " + why);
}

// Moves what is left of the buffer to its front and reads on. False: nothing more came.
bool CsvLines::fill() {
    buffer_.erase(0, std::exchange(at_, 0));
    const std::size_t have = buffer_.size();
    buffer_.resize(have + kChunk);
    in_->read(buffer_.data() + have, kChunk);
    const auto got = static_cast<std::size_t>(in_->gcount());
    buffer_.resize(have + got);
    if (in_->bad()) fail("the file cannot be read");
    bytes_ += got;
    if (bytes_ > caps_.bytes) {
        fail("the file is larger than " + std::to_string(caps_.bytes) + " bytes");
    }
    return got > 0;
}

bool CsvLines::next(std::string& line) {
    std::size_t end = buffer_.find('\n', at_);
    while (end == std::string::npos) {
        const std::size_t have = buffer_.size() - at_;
        if (have > caps_.line_bytes) break;
        if (!fill()) break;
        end = buffer_.find('\n', at_ + have);
    }
    if (end == std::string::npos && at_ == buffer_.size()) return false;
    ++number_;
    if (number_ > caps_.lines)
        fail("there are more than " + std::to_string(caps_.lines) + " lines");
    const std::size_t stop = std::min(end, buffer_.size());
    if (stop - at_ > caps_.line_bytes) {
        fail("the line is longer than " + std::to_string(caps_.line_bytes) + " bytes");
    }
    line.assign(buffer_, at_, stop - at_);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    at_ = std::min(stop + 1, buffer_.size());
    if (number_ == 1) {
        if (line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
        if (line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff")) {
            fail("the file is UTF-16 (save it as UTF-8)");
        }
    }
    return true;
}

}  // namespace vsb::datasets
