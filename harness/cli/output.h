#pragma once
// Results to stdout, everything else to stderr; a reader that went away loses us nothing.

#include <filesystem>
#include <string>
#include <string_view>

namespace vsb::cli {

// Opens /dev/null where a standard stream is closed, so that no file of ours (the store!) gets its
// number, and turns SIGPIPE off.
void prepare_streams();

// A result. Escapes what could steer a terminal when stdout is one. A closed stdout is not an
// error: who reads has read enough. Throws Failure (3) when it cannot be written otherwise.
void write_result(std::string_view text);

// A result into a file, or to stdout when there is none. Throws Failure (2).
void write_result(std::string_view text, const std::filesystem::path& file);

// One line on stderr, escaped, newline added. Never fails.
void say(std::string_view line);

// Text on stderr as it stands: our own terminal codes.
void write_stderr(std::string_view text);

bool stderr_is_terminal();
std::size_t stdout_columns();  // 100 when it is no terminal
std::size_t stderr_columns();

}  // namespace vsb::cli
