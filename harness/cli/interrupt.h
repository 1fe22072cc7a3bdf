#pragma once
// Ctrl-C and termination as a flag that the run polls. A second signal ends the process at once:
// every finished trial is committed by then.

namespace vsb::cli {

void watch_interrupts();
bool interrupted();

}  // namespace vsb::cli
