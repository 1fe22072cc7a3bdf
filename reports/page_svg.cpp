#include "reports/page_svg.h"

#include <fmt/format.h>

#include "reports/escape.h"

namespace vsb::reports {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

void cut_out(std::string& text, std::string_view from, std::string_view to) {
    const std::size_t start = text.find(from);
    if (start == std::string::npos) return;
    const std::size_t end = text.find(to, start + from.size());
    if (end != std::string::npos) text.erase(start, end + to.size() - start);
}

// gnuplot puts a white disc behind the point of an error bar, which shows on any other paper.
void cut_discs(std::string& text) {
    std::string out;
    std::size_t from = 0;
    for (std::size_t at = text.find("<use "); at != std::string::npos;
         at = text.find("<use ", from)) {
        const std::size_t end = text.find("/>", at);
        if (end == std::string::npos) break;
        const std::string_view tag = std::string_view(text).substr(at, end + 2 - at);
        const bool white = tag.find("color='white'") != std::string_view::npos;
        out.append(text, from, (white ? at : end + 2) - from);
        from = end + 2;
    }
    text = out + text.substr(from);
}

}  // namespace

std::string svg_for_page(std::string_view svg, std::string_view prefix, std::string_view title) {
    const std::size_t open = svg.find("<svg");
    const std::size_t close = svg.rfind("</svg>");
    if (open == std::string_view::npos || close == std::string_view::npos) return "";
    std::string out(svg.substr(open, close + 6 - open));
    // Filters for boxed text, which we do not use, and gnuplot's own title.
    while (out.find("<filter") != std::string::npos && out.find("</filter>") != std::string::npos) {
        cut_out(out, "<filter", "</filter>");
    }
    cut_discs(out);
    cut_out(out, "<title>", "</title>");
    cut_out(out, "<desc>", "</desc>");
    cut_out(out, "xmlns=\"", "\"");
    cut_out(out, "xmlns:xlink=\"", "\"");
    replace_all(out, "xlink:href", "href");
    for (const std::string_view quote : {"'", "\""}) {
        const std::string q(quote);
        replace_all(out, "id=" + q, fmt::format("id={}{}", q, prefix));
        for (const std::string_view color : {"fill", "stroke", "color"}) {
            replace_all(out, fmt::format("{}={}black{}", color, q, q),
                        fmt::format("{}={}currentColor{}", color, q, q));
        }
        for (const std::string_view black : {"rgb(  0,   0,   0)", "rgb(0,0,0)"}) {
            replace_all(out, fmt::format("={}{}{}", q, black, q),
                        fmt::format("={}currentColor{}", q, q));
        }
    }
    replace_all(out, "href='#", fmt::format("href='#{}", prefix));
    replace_all(out, "href=\"#", fmt::format("href=\"#{}", prefix));
    replace_all(out, "url(#", fmt::format("url(#{}", prefix));
    // `color` is the pen of what follows it; the page's own must win for black.
    replace_all(out, "color=\"currentColor\"", "");
    replace_all(out, "color='currentColor'", "");
    const std::size_t end_of_tag = out.find('>');
    out.insert(end_of_tag + 1, fmt::format("<title>{}</title>", html_text(title)));
    out.insert(4, " role=\"img\"");
    return out;
}

}  // namespace vsb::reports
