#include "reports/markup.h"

#include <algorithm>
#include <cctype>

namespace vsb::reports {
namespace {

class Reader {
  public:
    Reader(std::string_view text, const std::vector<std::string>& void_elements)
        : text_(text), void_(void_elements) {}

    Markup read() {
        for (const char c : text_) {
            const auto byte = static_cast<unsigned char>(c);
            if ((byte < 0x20 && c != '\n') || byte == 0x7f) return fail("a control character");
        }
        while (at_ < text_.size() && out_.error.empty()) {
            if (text_[at_] == '<') {
                tag();
            } else {
                words();
            }
        }
        if (out_.error.empty() && !open_.empty()) fail(open_.back() + " is not closed");
        return out_;
    }

  private:
    Markup& fail(const std::string& why) {
        if (out_.error.empty()) {
            out_.error =
                why + " before: " + std::string(text_.substr(std::min(at_, text_.size()), 60));
        }
        return out_;
    }

    bool starts(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

    void entity() {
        static constexpr std::string_view kKnown[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
        if (std::none_of(std::begin(kKnown), std::end(kKnown),
                         [&](std::string_view known) { return starts(known); })) {
            fail("no entity");
        }
    }

    void words() {
        if (!open_.empty() && open_.back() == "style") {
            at_ = std::min(text_.find('<', at_), text_.size());
            return;
        }
        if (text_[at_] == '&') entity();
        if (text_[at_] == '>') fail("a stray >");
        if (open_.empty() && text_[at_] != '\n') fail("text outside of the root");
        ++at_;
    }

    std::string name() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                      text_[at_] == '-' || text_[at_] == ':')) {
            ++at_;
        }
        if (at_ == begin) fail("a name is missing");
        return std::string(text_.substr(begin, at_ - begin));
    }

    void blanks() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n'))
            ++at_;
    }

    void tag() {
        if (starts("<!DOCTYPE") || starts("<?xml")) {
            if (at_ != 0) fail("a prolog in the middle");
            at_ = std::min(text_.find('>', at_), text_.size() - 1) + 1;
            return;
        }
        if (starts("</")) {
            at_ += 2;
            const std::string closed = name();
            if (open_.empty() || open_.back() != closed) {
                fail("</" + closed + "> closes nothing");
                return;
            }
            open_.pop_back();
            blanks();
            if (!starts(">")) fail("an end tag without its end");
            ++at_;
            return;
        }
        ++at_;
        Element element;
        element.name = name();
        element.parent = open_.empty() ? "" : open_.back();
        while (out_.error.empty()) {
            blanks();
            if (at_ >= text_.size()) fail("a tag without its end");
            if (starts(">") || starts("/>")) break;
            attribute(element);
        }
        if (!out_.error.empty()) return;
        const bool closed = starts("/>");
        at_ += closed ? 2 : 1;
        if (!closed && std::find(void_.begin(), void_.end(), element.name) == void_.end()) {
            open_.push_back(element.name);
        }
        out_.elements.push_back(std::move(element));
    }

    void attribute(Element& element) {
        const std::string key = name();
        std::string value;
        if (starts("=")) {
            const char quote = at_ + 1 < text_.size() ? text_[at_ + 1] : ' ';
            if (quote != '"' && quote != '\'') {
                fail("an attribute without quotes");
                return;
            }
            at_ += 2;
            const std::size_t end = text_.find(quote, at_);
            if (end == std::string_view::npos) {
                fail("an attribute without its end");
                return;
            }
            value = text_.substr(at_, end - at_);
            for (; at_ < end && out_.error.empty(); ++at_) {
                if (text_[at_] == '<') fail("a tag within an attribute");
                if (text_[at_] == '&') entity();
            }
            at_ = end + 1;
        }
        if (!element.attributes.emplace(key, value).second) fail(key + " is given twice");
    }

    std::string_view text_;
    const std::vector<std::string>& void_;
    std::size_t at_ = 0;
    std::vector<std::string> open_;
    Markup out_;
};

}  // namespace

Markup read_markup(std::string_view text, const std::vector<std::string>& void_elements) {
    return Reader(text, void_elements).read();
}

}  // namespace vsb::reports
