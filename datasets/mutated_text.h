#pragma once
// For tests of readers: a text spoiled as damaged or hostile files are.

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace vsb::datasets {

// One to three changes at random places: bytes lost, one of the pieces put in, a number replaced by
// a piece, a passage repeated, a byte overwritten. `pieces` is not empty.
inline std::string mutated(std::string text, std::span<const std::string_view> pieces,
                           std::mt19937_64& random) {
    constexpr std::string_view kDigits = "0123456789";
    const auto piece = [&] { return pieces[random() % pieces.size()]; };
    for (auto changes = 1 + random() % 3; changes > 0; --changes) {
        const std::size_t at = random() % (text.size() + 1);
        const std::size_t length = random() % 12;
        switch (random() % 5) {
            case 0:
                text.erase(at, length);
                break;
            case 1:
                text.insert(at, piece());
                break;
            case 2: {
                const std::size_t start = text.find_first_of(kDigits, at);
                if (start == std::string::npos) break;
                const std::size_t end = text.find_first_not_of("0123456789.", start);
                text.replace(start, std::min(end, text.size()) - start, piece());
                break;
            }
            case 3:
                text.insert(at, text.substr(random() % (text.size() + 1), length * 6));
                break;
            default:
                if (at < text.size()) text[at] = static_cast<char>(random());
        }
    }
    return text;
}

}  // namespace vsb::datasets
