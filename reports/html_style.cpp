#include "reports/html_style.h"

namespace vsb::reports {

std::string_view html_style() {
    return R"css(
:root { color-scheme: light dark; --ink: #1c1f23; --soft: #5c6570; --paper: #ffffff;
  --card: #f6f7f9; --rule: #d9dde2; --good: #1d7a46; --bad: #b8322a; --warn-paper: #fff6e0;
  --warn-rule: #d9a420; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7eb; --soft: #9aa4b0; --paper: #14171a;
  --card: #1c2024; --rule: #343a41; --good: #5cc48a; --bad: #f0837b; --warn-paper: #2b2410;
  --warn-rule: #b98a1c; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.2rem clamp(0.8rem, 3vw, 2.5rem) 3rem; max-width: 1400px;
  background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 0.2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 0.6rem; overflow-wrap: anywhere; }
p { margin: 0.3rem 0; }
.lead { color: var(--soft); overflow-wrap: anywhere; }
.notes { background: var(--warn-paper); border-left: 4px solid var(--warn-rule);
  padding: 0.6rem 1rem; margin: 1rem 0; }
.notes h2 { margin: 0 0 0.3rem; font-size: 1rem; }
.notes ul { margin: 0; padding-left: 1.1rem; }
.notes li, dd { overflow-wrap: anywhere; }
.interim { font-weight: 700; color: var(--bad); }
.answer { font-weight: 700; font-size: 1.05rem; margin: 0.6rem 0; }
.block { display: grid; gap: 1rem 2rem; align-items: start; grid-template-columns: 1fr; }
.block > * { min-width: 0; }
@media (min-width: 1150px) { .block { grid-template-columns: max-content minmax(0, 1fr); } }
.scroll { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.93rem; }
th, td { padding: 0.28rem 0.6rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--rule); }
th { color: var(--soft); font-weight: 600; }
th:first-child, td:first-child { text-align: left; max-width: 22rem; overflow: hidden;
  text-overflow: ellipsis; padding-left: 0; }
.verdict { text-align: left; }
.faster, .equivalent { color: var(--good); }
.slower { color: var(--bad); }
.inconclusive { color: var(--soft); }
.ci { color: var(--soft); }
figure { margin: 0; background: var(--card); border: 1px solid var(--rule); border-radius: 6px;
  padding: 0.5rem; max-width: 620px; }
figcaption { font-size: 0.88rem; color: var(--soft); margin-bottom: 0.2rem;
  overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: auto; color: var(--ink); }
.plots { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 400px), 1fr)); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1rem; margin: 0.4rem 0; }
dt { color: var(--soft); }
dd { margin: 0; }
details { margin: 0.6rem 0; }
summary { cursor: pointer; }
@media (max-width: 640px) {
  .less { display: none; }
  th, td { padding: 0.25rem 0.16rem; font-size: 0.78rem; }
  td.verdict, th.verdict { font-size: 0.72rem; }
  .ci { display: block; font-size: 0.72rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dt { margin-top: 0.4rem; }
}
@media print { body { max-width: none; } figure { break-inside: avoid; } }
)css";
}

}  // namespace vsb::reports
