#pragma once
// What every HTML page shares: its shell, its escaping, and figures that may fail to be drawn.

#include <string>
#include <string_view>

#include "reports/plot.h"

namespace vsb::reports {

// Raw text for a paragraph or an attribute, and for a cell of a table: html_text(), cut.
std::string page_text(std::string_view text);
std::string page_cell(std::string_view text);

// The whole document. title: raw text; body: HTML. No script, nothing loaded from elsewhere, and a
// content security policy that says so.
std::string page(std::string_view title, std::string_view body);

// Draws, and keeps what went wrong: a page without plots says so once.
class Figures {
  public:
    // An empty plotter: no figures, and a notice.
    explicit Figures(const Plotter& plotter);

    // caption: raw text. Empty when there is nothing to draw or no way to.
    std::string figure(const Plot& plot, const std::string& caption);
    std::string notice() const;

  private:
    const Plotter& plotter_;
    std::string error_;
    int count_ = 0;
};

}  // namespace vsb::reports
