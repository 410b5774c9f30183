#include "constraints/csrc/line_summaries.h"

namespace tokamata {

const std::vector<uint32_t>& LineSummaries::After(uint32_t terminal, uint32_t before) const {
  const Indentation* indentation = rules_.indentation.get();
  static const std::vector<uint32_t> none, separated{kSeparated}, begun{kBegun}, before_block{kBeforeBlock},
      after_block{kAfterBlock};
  if (HasTerminal(excluded_, terminal)) return none;
  if (indentation && terminal == indentation->indent) return before == kBeforeBlock ? begun : none;
  if (indentation && terminal == indentation->dedent)
    return before == kBeforeBlock || before == kAfterBlock ? after_block : none;  // its column can be chosen
  if (before == kBegun || before == kBeforeBlock || before == kAfterBlock)
    return HasTerminal(at_once_, terminal) ? separated : none;
  if (indentation && terminal == indentation->newline) return before_block;
  return before == kInLine ? none : separated;
}

}  // namespace tokamata
