#include "reports/page.h"

#include <fmt/format.h>

#include "reports/escape.h"
#include "reports/html_style.h"
#include "reports/page_svg.h"

namespace vsb::reports {
namespace {

constexpr std::size_t kLongestText = 2000;
constexpr std::size_t kLongestCell = 120;

}  // namespace

std::string page_text(std::string_view text) {
    return html_text(cut(text, kLongestText));
}

std::string page_cell(std::string_view text) {
    return html_text(cut(text, kLongestCell));
}

std::string page(std::string_view title, std::string_view body) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"referrer\" content=\"no-referrer\">\n"
        "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
        page_cell(title), html_style(), body);
}

Figures::Figures(const Plotter& plotter) : plotter_(plotter) {
    if (!plotter_) error_ = "no plot program was given";
}

std::string Figures::figure(const Plot& plot, const std::string& caption) {
    if (plot.script.empty() || !plotter_) return "";
    const Drawing drawing = plotter_(plot);
    if (drawing.svg.empty()) {
        if (error_.empty()) error_ = drawing.error;
        return "";
    }
    const std::string prefix = fmt::format("f{}-", ++count_);
    return fmt::format("<figure><figcaption>{}</figcaption>{}</figure>\n", page_text(caption),
                       svg_for_page(drawing.svg, prefix, caption));
}

std::string Figures::notice() const {
    if (error_.empty()) return "";
    return fmt::format("<p class=\"lead\">Some plots are missing: {}.</p>\n", page_text(error_));
}

}  // namespace vsb::reports
