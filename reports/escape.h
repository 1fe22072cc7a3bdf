#pragma once
// Text of hostile origin (names, specs and notes from files, guests and stores) on its way out.
// Every writer takes its text through here.

#include <cstddef>
#include <string>
#include <string_view>

namespace vsb::reports {

// Printable ASCII stays; anything else is spelled out: \n, \t, \x1b for control characters and
// bytes that are not UTF-8, \u202e and \U0001f600 for other characters. One line, no terminal
// codes.
std::string ascii(std::string_view text);

// Valid UTF-8 with letters of any script; control, bidirectional-formatting, other invisible
// format characters and bad bytes spelled out as ascii() does.
std::string printable(std::string_view text);

// At most `width` characters of an ASCII text, the cut marked with "..." in its middle so that both
// ends stay. width at least 8.
std::string shorten(std::string_view text, std::size_t width);

// The same for raw text of any script, in bytes of the result; no character is cut in two. What
// comes out is to be escaped still.
std::string cut(std::string_view text, std::size_t bytes);

// The following take raw text, make it printable() first, and shorten nothing.

// Text inside an HTML or XML element or a double-quoted attribute.
std::string html_text(std::string_view text);

// Text in a paragraph or a table cell of GitHub-flavoured Markdown.
std::string markdown_text(std::string_view text);

// One CSV cell: quoted where needed; one that starts with = + - @ gets an apostrophe first, since
// spreadsheets run it.
std::string csv_cell(std::string_view text);

// A label of a plot: ascii() without quotes, backquotes, backslashes, at signs and number signs
// (which start a comment in gnuplot's data).
std::string plot_label(std::string_view text);

}  // namespace vsb::reports
