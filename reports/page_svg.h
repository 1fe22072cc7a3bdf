#pragma once
// A drawing made to stand within a page.

#include <string>
#include <string_view>

namespace vsb::reports {

// The <svg> element alone, without prolog and namespaces; its ids (gnuplot uses the same ones in
// every drawing) start with `prefix`; black is the page's text colour; white discs behind points
// are gone; `title` (raw text) is what a screen reader says.
std::string svg_for_page(std::string_view svg, std::string_view prefix, std::string_view title);

}  // namespace vsb::reports
