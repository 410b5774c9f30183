#include "decode/csrc/token_class.h"

#include <string_view>

#include "automata/csrc/time_limit.h"

namespace tokamata {

std::vector<uint32_t> TokensIn(const Language& language, const Vocabulary& vocabulary) {
  const TimeLimit time("compile", "search_seconds", language.OwnLimits().search_seconds);
  const auto acceptor = language.Scratch();
  std::vector<uint32_t> ids;
  for (uint32_t id = 0; id < vocabulary.Size(); ++id) {
    const std::string_view token = vocabulary.Token(id);
    TimeLimit::Spend();
    if (token.empty() || !acceptor->Start()) continue;
    const auto q = acceptor->Run(acceptor->Start(), token);
    if (q && acceptor->IsFinal(q)) ids.push_back(id);
  }
  return ids;
}

}  // namespace tokamata
