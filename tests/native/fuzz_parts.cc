// Two parts one after another, byte by byte and with tokens that run across: the masks of their concatenation.
#include <memory>
#include <vector>

#include "decode/csrc/byte_state.h"
#include "decode/csrc/decode_state.h"
#include "decode/csrc/generations.h"
#include "tests/native/generate.h"
#include "tokenizer_fst/csrc/factoring.h"

namespace tokamata {
namespace {

std::shared_ptr<Generations> Compiled(const Language& language, const std::shared_ptr<const Vocabulary>& vocabulary) {
  return std::make_shared<Generations>(std::make_shared<TokenAutomaton>(language.Acceptor(), vocabulary, 1 << 20));
}

void One(Random* r) {
  Limits limits = SmallLimits();
  const auto vocabulary = RandomVocabulary(r);
  if (!vocabulary->SpellsAnyText()) return;
  Tolerate([&] {
    const Language first = RandomLanguage(r, limits), second = RandomLanguage(r, limits);
    DecodeState whole(Compiled(Language::Concat({first, second}), vocabulary));
    if (r->OneIn(4)) limits.states = 20 + r->Below(100);
    const auto parts = Compiled(first.WithLimits(limits), vocabulary);
    const ByteState begin(Compiled(second.WithLimits(limits), vocabulary));
    std::vector<ByteState> a{ByteState(parts)}, b;
    if (a[0].IsFinal()) b.push_back(begin);
    if (!a[0].GoesOn()) a.clear();

    std::vector<uint32_t> row(vocabulary->Words()), expected(vocabulary->Words());
    for (int step = 0; step < 8 && !whole.IsFinished(); ++step) {
      const std::string place = " after " + std::to_string(step) + " tokens";
      std::fill(row.begin(), row.end(), 0);
      bool final = false;
      for (const ByteState& state : b) {
        state.AddMask({}, row.data());
        final |= state.IsFinal();
      }
      for (const ByteState& state : a) {
        bool complete;
        const auto ends = state.Ends({0}, 1 << 20, nullptr, &complete);
        std::vector<uint32_t> left_out, nodes;
        for (const auto& end : ends) {
          if (!end.goes_on) left_out.push_back(end.node), state.AddTokensAt(end.node, row.data());
          if (!end.leaf) nodes.push_back(end.node);
        }
        state.AddMask(left_out, row.data());
        begin.AddTokens(nodes, row.data());
        std::vector<uint32_t> again(row.size());  // the same by asking about every first byte's node
        bool all;
        std::vector<uint32_t> children;
        vocabulary->Masks().trie().ForEachChild(0, [&](uint32_t c) { children.push_back(c); });
        for (uint32_t c : children) {
          const char byte = static_cast<char>(vocabulary->Masks().trie().nodes[c].byte);
          if (const auto next = state.After({&byte, 1})) next->Ends({c}, 1 << 20, again.data(), &all);
        }
        for (size_t i = 0; i < row.size(); ++i) Require(!(again[i] & ~row[i]), "ends set bits of the mask" + place);
      }
      if (final)
        for (uint32_t id : vocabulary->EosIds()) row[id / 32] |= 1u << (id % 32);
      whole.FillMask(expected.data());
      Require(row == expected, "mask of parts = mask of their concatenation" + place);

      std::vector<uint32_t> allowed;
      for (uint32_t t = 0; t < vocabulary->Size(); ++t)
        if (row[t / 32] >> (t % 32) & 1) allowed.push_back(t);
      Require(!allowed.empty(), "no dead end" + place);
      const uint32_t token = r->Of(allowed);
      whole.Advance(token);
      for (const char byte : vocabulary->Token(token)) {
        std::vector<ByteState> next_a, next_b;
        const auto enter = [&next_b](const ByteState& state) {
          for (const ByteState& other : next_b)
            if (other.Key() == state.Key()) return;
          next_b.push_back(state);
        };
        for (const ByteState& state : b)
          if (const auto next = state.After({&byte, 1})) enter(*next);
        for (const ByteState& state : a) {
          const auto next = state.After({&byte, 1});
          if (next && next->GoesOn()) next_a.push_back(*next);
          if (next && next->IsFinal()) enter(begin);
        }
        a = next_a;
        b = next_b;
      }
    }
  });
}

}  // namespace
}  // namespace tokamata

int main(int argc, char** argv) { return tokamata::RunCases("fuzz_parts", argc, argv, tokamata::One); }
