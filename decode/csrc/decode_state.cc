#include "decode/csrc/decode_state.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "automata/csrc/errors.h"
#include "automata/csrc/places.h"
#include "automata/csrc/time_limit.h"

namespace tokamata {

bool DecodeState::Renew() const {
  std::shared_ptr<TokenAutomaton> next = generations_->After(automaton_.get());
  for (bool again = false; next; again = true) {
    std::vector<State> states = history_;
    const bool finished = IsFinished();
    if (finished) states.pop_back();
    try {
      next->Acceptor().Adopt(automaton_->Acceptor(), &states);
    } catch (const CapacityError&) {  // that one is full, too
      if (again) throw;
      next = generations_->After(next.get());
      continue;
    }
    if (finished) states.push_back(kFinished);
    history_.swap(states);
    automaton_ = next;
    return true;
  }
  return false;
}

template <class F>
auto DecodeState::AtPlace(F f) const {
  return Placed([this] { return IsFinished() ? std::string() : automaton_->Acceptor().PlaceOf(Current()); }, f);
}

template <class F>
auto DecodeState::WithRoom(F f) const {
  return AtPlace([&] {
    try {
      return f();
    } catch (const CapacityError&) {
      if (!Renew()) throw;
    }
    const TimeLimit time("decode", "seconds", automaton_->Acceptor().seconds);
    for (int i = 1; i < Generations::kRenewals; ++i) {
      try {
        return f();
      } catch (const CapacityError&) {
        if (!Renew()) throw;
      }
    }
    return f();
  });
}

DecodeState::DecodeState(std::shared_ptr<Generations> generations)
    : generations_(std::move(generations)), automaton_(generations_->Newest()) {
  history_.reserve(64);
  history_.push_back(automaton_->Start());
}

DecodeState::DecodeState(std::shared_ptr<Generations> generations, int64_t max_tokens)
    : DecodeState(std::move(generations)) {
  WithRoom([&] { automaton_->CheckBudget(max_tokens); });
  budget_ = static_cast<uint32_t>(std::min<int64_t>(max_tokens, TokenAutomaton::kNoBudget - 1));
}

bool DecodeState::CopyMask(uint32_t* out) const {
  if (!IsFinished()) return automaton_->CopyMask(Current(), Left(), out);
  std::memset(out, 0, size_t{automaton_->Words()} * sizeof(uint32_t));
  return true;
}

bool DecodeState::MakeMaskQuickly(uint32_t* out) const {
  try {
    return AtPlace([&] { return automaton_->FillMaskQuickly(Current(), Left(), out); });
  } catch (const CapacityError&) {
    return false;
  }
}

void DecodeState::MakeMask(uint32_t* out) const {
  WithRoom([&] { automaton_->FillMask(Current(), Left(), out); });
}

bool DecodeState::IsEos(int64_t token) const {
  const auto& eos = automaton_->Tokens().EosIds();
  return token >= 0 && std::binary_search(eos.begin(), eos.end(), static_cast<uint32_t>(token));
}

DecodeState::State DecodeState::Next(State q, int64_t token, uint32_t left) const {
  if (q == kFinished || token < 0 || token >= static_cast<int64_t>(automaton_->Tokens().ModelSize())) return DelayedAcceptor::kDead;
  if (const State next = automaton_->Advance(q, static_cast<uint32_t>(token), left)) return next;
  return IsEos(token) && automaton_->IsFinal(q) ? kFinished : State{DelayedAcceptor::kDead};
}

bool DecodeState::Allows(int64_t token) const {
  return WithRoom([&] { return Next(Current(), token, Left()); }) != DelayedAcceptor::kDead;
}

void DecodeState::Advance(int64_t token) {
  const State next = WithRoom([&] { return Next(Current(), token, Left()); });
  if (next) {
    history_.push_back(next);
    tokens_.push_back(static_cast<uint32_t>(token));
    return;
  }
  const Vocabulary& v = automaton_->Tokens();
  const std::string name = "advance: token " + std::to_string(token);
  if (token < 0 || token >= static_cast<int64_t>(v.ModelSize()))
    throw TokenRejected(name + " is outside the vocabulary's ids 0.." + std::to_string(v.ModelSize() - 1) +
                        "; check that model and vocabulary belong together");
  if (IsFinished()) throw TokenRejected(name + " comes after the end-of-sequence token; use rollback or reset first");
  if (IsEos(token))
    throw TokenRejected(name + " ends the sequence, but the text after " + std::to_string(NumTokens()) +
                        " tokens is not complete; take a token that the mask allows");
  if (v.IsSpecial(static_cast<uint32_t>(token)) || v.Token(static_cast<uint32_t>(token)).empty())
    throw TokenRejected(name + " is special or empty and stands for no text; take a token that the mask allows");
  if (const State after = HasBudget() ? automaton_->Advance(Current(), static_cast<uint32_t>(token)) : State{}) {
    std::string needed = "more";
    try {
      needed = std::to_string(uint64_t{automaton_->Distance(after)} + 1) + " more";
    } catch (const LimitError&) {  // how many exactly would take too long to say
    }
    throw TokenRejected(name + " leaves no room to finish: " + needed +
                        " tokens would be needed after it (end-of-sequence included), the budget leaves " +
                        std::to_string(Left() - 1) + "; take a token that the mask allows");
  }
  throw TokenRejected(name + " is not allowed after " + std::to_string(NumTokens()) +
                      " tokens: its text cannot be extended to a member of the constraint; take a token that the mask allows");
}

bool DecodeState::AdvanceQuickly(int64_t token) {
  if (IsFinished() || token < 0 || token >= static_cast<int64_t>(automaton_->Tokens().ModelSize())) return false;
  const State next = automaton_->AdvanceQuickly(Current(), static_cast<uint32_t>(token), Left());
  if (!next) return false;
  history_.push_back(next);
  tokens_.push_back(static_cast<uint32_t>(token));
  return true;
}

size_t DecodeState::Validate(const std::vector<int64_t>& tokens) const {
  return WithRoom([&] {
    State q = Current();
    for (size_t i = 0; i < tokens.size(); ++i) {
      q = Next(q, tokens[i], LeftAfter(NumTokens() + i));
      if (!q) return i;
    }
    return tokens.size();
  });
}

void DecodeState::DraftMasks(const std::vector<int64_t>& tokens, uint32_t* out) const {
  return WithRoom([&] {
    const size_t words = automaton_->Words();
    State q = Current();
    for (size_t i = 0; i <= tokens.size(); ++i) {
      uint32_t* row = out + i * words;
      if (!q || q == kFinished) {
        std::memset(row, 0, words * sizeof(uint32_t));
      } else {
        automaton_->FillMask(q, LeftAfter(NumTokens() + i), row);
      }
      if (i < tokens.size() && q) q = Next(q, tokens[i], LeftAfter(NumTokens() + i));
    }
  });
}

void DecodeState::DraftTreeMasks(const std::vector<int64_t>& tokens, const std::vector<int64_t>& parents,
                                 uint32_t* out) const {
  return WithRoom([&] {
    const size_t words = automaton_->Words();
    struct Node {
      State state;
      size_t depth;  // tokens since the text so far
    };
    std::vector<Node> nodes{{Current(), 0}};
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Node node = nodes[i];
      if (!node.state || node.state == kFinished) {
        std::memset(out + i * words, 0, words * sizeof(uint32_t));
      } else {
        automaton_->FillMask(node.state, LeftAfter(NumTokens() + node.depth), out + i * words);
      }
      if (i == tokens.size()) break;
      const Node from = nodes[static_cast<size_t>(parents[i] + 1)];
      const uint32_t left = LeftAfter(NumTokens() + from.depth);
      nodes.push_back({from.state ? Next(from.state, tokens[i], left) : from.state, from.depth + 1});
    }
  });
}

void DecodeState::Rollback(int64_t n) {
  if (n < 0 || static_cast<uint64_t>(n) > NumTokens())
    throw std::out_of_range("rollback: expected 0 <= n <= " + std::to_string(NumTokens()) + " (the tokens so far), got " +
                            std::to_string(n));
  history_.resize(history_.size() - static_cast<size_t>(n));
  tokens_.resize(history_.size() - 1);
}

std::string DecodeState::Text() const {
  std::string text;
  for (const uint32_t token : tokens_) text += automaton_->Tokens().Token(token);
  return text;
}

// Where tokens have several readings, those as text are preferred, then those of classes in their order.
std::vector<CaptureValues> DecodeState::Captures() const {
  const CaptureParts* parts = generations_->Captures();
  if (!parts) return {};
  const TimeLimit time("captures", "search_seconds", automaton_->Acceptor().seconds);
  const std::string text = Text();
  const Vocabulary& v = automaton_->Tokens();
  CaptureRun run(parts->Program());
  if (!v.NumClasses()) {
    run.Read(text);
  } else {
    for (const uint32_t token : tokens_) {
      std::vector<CaptureRun::Reading> readings;
      if (const std::string_view bytes = v.Token(token); !bytes.empty()) readings.push_back({bytes});
      for (uint32_t c = 0; c < v.NumClasses(); ++c)
        if (v.Class(c)[token / 32] >> (token % 32) & 1) readings.push_back({v.Token(v.ModelSize() + c), false});
      if (!readings.empty()) run.ReadToken(readings, v.Token(token).size());
    }
  }
  const auto spans = run.Spans(text, IsFinished());
  return spans ? ValuesOf(text, *spans, generations_->HasMarkers()) : std::vector<CaptureValues>();
}

std::string DecodeState::ForcedBytes(size_t most) const {
  return WithRoom([&] {
    std::string text;
    if (IsFinished()) return text;
    if (HasBudget()) return automaton_->ForcedBytes(Current(), Left(), most);
    DelayedAcceptor& a = automaton_->Acceptor();
    for (State q = Current(); text.size() < most && !a.IsFinal(q);) {
      const ByteSet live = a.Live(q);
      if (live.Count() != 1 || automaton_->BeginsMarker(live.First())) break;
      text.push_back(static_cast<char>(live.First()));
      q = a.Next(q, live.First());
    }
    return text;
  });
}

std::vector<uint32_t> DecodeState::ForcedTokens(size_t most) const {
  return WithRoom([&] {
    std::vector<uint32_t> tokens;
    if (IsFinished()) return tokens;
    std::vector<uint32_t> row(automaton_->Words());
    for (State q = Current(); tokens.size() < most && !automaton_->IsFinal(q);) {
      automaton_->FillMask(q, LeftAfter(NumTokens() + tokens.size()), row.data());
      uint32_t only = 0;
      int count = 0;
      for (uint32_t i = 0; i < row.size() && count < 2; ++i) {
        if (!row[i]) continue;
        count += __builtin_popcount(row[i]);
        only = i * 32 + static_cast<uint32_t>(__builtin_ctz(row[i]));
      }
      if (count != 1) break;
      tokens.push_back(only);
      q = automaton_->Advance(q, only);
    }
    return tokens;
  });
}

}  // namespace tokamata
