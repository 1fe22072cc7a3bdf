#include "harness/guest/agent.h"

#include <stdexcept>

namespace vsb::guest {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

int hex_value(char c) {
    const std::size_t at = kHex.find(c);
    if (at == std::string_view::npos) throw std::invalid_argument("a '%' without two hex digits");
    return static_cast<int>(at);
}

}  // namespace

std::string encode_text(std::string_view text) {
    if (text.empty()) return "%";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte > 0x20 && byte < 0x7f && c != '%') {
            out += c;
        } else {
            out += '%';
            out += kHex[byte >> 4];
            out += kHex[byte & 15];
        }
    }
    return out;
}

std::string decode_text(std::string_view text) {
    if (text == "%") return {};
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        if (text.size() - i < 3) throw std::invalid_argument("a '%' without two hex digits");
        out += static_cast<char>(hex_value(text[i + 1]) << 4 | hex_value(text[i + 2]));
        i += 2;
    }
    return out;
}

bool LineBuffer::feed(std::string_view bytes) {
    buffer_.append(bytes);
    const std::size_t end = buffer_.find('\n');
    return end != std::string::npos ? end <= kMaxAgentLine : buffer_.size() <= kMaxAgentLine;
}

bool LineBuffer::next(std::string& line) {
    const std::size_t end = buffer_.find('\n');
    if (end == std::string::npos) return false;
    line = buffer_.substr(0, end);
    while (!line.empty() && line.back() == '\r')
        line.pop_back();
    buffer_.erase(0, end + 1);
    return true;
}

}  // namespace vsb::guest
