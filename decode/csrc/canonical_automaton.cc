#include "decode/csrc/canonical_automaton.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>

#include "automata/csrc/completion.h"
#include "automata/csrc/errors.h"
#include "automata/csrc/id_table.h"
#include "automata/csrc/places.h"
#include "automata/csrc/time_limit.h"
#include "automata/csrc/utf8.h"
#include "decode/csrc/rows.h"
#include "tokenizer_fst/csrc/factoring.h"

namespace tokamata {
namespace {

constexpr size_t kMostMoves = 20'000'000;  // 8 bytes each
constexpr uint32_t kWitnesses = 6;
constexpr uint32_t kTries = 256;       // pairs that are tested one by one before a whole row is made
constexpr size_t kMostTried = 20'000;  // texts, where states that remember nothing do not tell
constexpr uint32_t kMostNested = 100;  // tokens, one behind the other, there

}  // namespace

CanonicalAutomaton::CanonicalAutomaton(const Language& language, std::shared_ptr<CanonicalTexts> texts,
                                       std::shared_ptr<const CanonicalTokens> tokens, const CanonicalOptions& options)
    : acceptor_(language.Scratch(false)), texts_(std::move(texts)), tokens_(std::move(tokens)),
      vocabulary_(&tokens_->Vocab()), pairs_(&tokens_->Pairs()), options_(options),
      seconds_(language.OwnLimits().search_seconds), may_remember_(acceptor_->MayRemember()),
      pretokenizer_(tokens_->Patterns()) {
  const Trie& trie = vocabulary_->Masks().trie();
  rows_.resize(trie.max_depth + 2);
  split_rows_.resize(trie.max_depth + 2);
  text_rows_.resize(trie.max_depth + 2);
  const TimeLimit time("canonical", "search_seconds", seconds_);
  // What cannot be met with texts state by state is met as a whole, unless it remembers.
  if (const State q = acceptor_->Start(); texts_ && q && !may_remember_ && !MeetsSurely(q, texts_->Start())) {
    acceptor_ = Language::Intersect({language, texts_->Texts()}).Scratch(false);
    texts_ = nullptr;
  }
  start_.of = acceptor_;
  start_.state = acceptor_->Start();
  if (texts_) start_.text = texts_->Start();
  start_.guesses.push_back({pretokenizer_.Start(), kNoToken, CanonicalTokens::kPieceStart});
  const State first = StateOf(start_);
  bool any = first && Ends(start_);
  if (first && !any) {
    const uint32_t* useful = Useful(PlaceOf(first, pretokenizer_.Start(), CanonicalTokens::kPieceStart));
    for (uint32_t w = 0; w < Words() && !any; ++w) any = useful[w] != 0;
  }
  if (!any) throw ConstraintError("canonical: no member of the constraint has a tokenization by this tokenizer");
}

uint32_t CanonicalAutomaton::PlaceOf(State state, Pretokenizer::State split, uint32_t spelled) {
  const uint64_t key = PairKey(state, split);
  const uint32_t* const known = place_of_.Find(key);
  const uint32_t same = known ? *known : kNoPlace;
  for (uint32_t place = same; place != kNoPlace; place = places_[place].same)
    if (places_[place].spelled == spelled) return place;
  if (places_.size() >= options_.max_nodes)
    throw CapacityError("canonical: limit max_nodes=" + std::to_string(options_.max_nodes) +
                     " reached: the constraint has too many states; simplify it or raise the limit");
  const uint32_t place = static_cast<uint32_t>(places_.size());
  place_of_[key] = place;
  places_.push_back({state, split, spelled, same});
  return place;
}

// Whether the piece may end here and the text go on, or end as well, to a member.
bool CanonicalAutomaton::PieceEnds(uint32_t place) {
  if (places_[place].ends >= 0) return places_[place].ends;
  const Place at = places_[place];
  bool ends = false;
  if (!tokens_->SpellsWhole(at.spelled)) {
    ends = Final(at.state) && pretokenizer_.IsEnd(at.split);
    if (!ends) {
      const std::vector<Pretokenizer::State>& cuts = pretokenizer_.Cuts(at.split);
      for (size_t i = 0; i < cuts.size() && !ends; ++i) ends = CanFollow(at.state, pretokenizer_.Free(cuts[i]));
    }
  }
  places_[place].ends = ends;
  return ends;
}

// Whether some text leads from the state to a member and satisfies what the pretokenizer's guesses ask.
bool CanonicalAutomaton::CanFollow(State state, Pretokenizer::State free) {
  if (const bool* const known = can_follow_.Find(PairKey(state, free))) return *known;
  Twins twins;
  if (!HasTwins(state, &twins)) return Reaches(state, free);
  const bool follows = FollowsByTwins(state, free, twins);
  return can_follow_[PairKey(state, free)] = follows;
}

// The same where the state remembers nothing. Nearest first.
bool CanonicalAutomaton::Reaches(State state, Pretokenizer::State free) {
  constexpr size_t kFew = 64;  // places, until it is worth deciding which states have no text at all
  std::unordered_set<uint64_t> seen{PairKey(state, free)};
  std::vector<std::pair<State, Pretokenizer::State>> work{{state, free}};
  bool found = false;
  for (size_t i = 0; i < work.size() && !found; ++i) {
    const State q = work[i].first;
    const Pretokenizer::State f = work[i].second;
    TimeLimit::Spend(8);
    if (i >= kFew && !MayEnd(q)) continue;
    found = (Final(q) && pretokenizer_.IsEnd(f)) || (pretokenizer_.IsClear(f) && SurelyEnds(q));
    if (found) break;
    const auto go = [&](State to, Pretokenizer::State split) {
      if (!seen.insert(PairKey(to, split)).second) return;
      if (const bool* const before = can_follow_.Find(PairKey(to, split)))
        found = found || *before;
      else
        work.emplace_back(to, split);
    };
    ForEachStep(q, pretokenizer_.Row(f), go);
    for (const Pretokenizer::State cut : pretokenizer_.Cuts(f)) go(q, cut);
    if (seen.size() > options_.max_nodes)
      throw LimitError("canonical: limit max_nodes=" + std::to_string(options_.max_nodes) +
                       " reached while searching for a text that may follow; simplify the constraint or raise it");
  }
  if (found)
    can_follow_[PairKey(state, free)] = true;
  else
    for (const uint64_t key : seen) can_follow_[key] = false;
  return found;
}

// Calls visit(state, split) for where the bytes lead that neither forbids; a state that remembers is not asked.
template <class F>
void CanonicalAutomaton::ForEachStep(State q, const Pretokenizer::State* splits, F visit) {
  const StateRow row = acceptor_->Row(StateIn(q));
  const CanonicalTexts::State* texts = q & kMeet ? texts_->Row(meets_[q & ~kMeet].text) : nullptr;
  std::tuple<State, CanonicalTexts::State, Pretokenizer::State> last{};  // neighbours mostly lead to the same
  for (uint32_t b = 0; b < 256; ++b) {
    const std::tuple<State, CanonicalTexts::State, Pretokenizer::State> to{row[b], texts ? texts[b] : 1, splits[b]};
    const auto [state, text, split] = to;
    if (!state || !text || !split || to == last) continue;
    last = to;
    visit(texts ? MeetOf(state, text) : state, split);
  }
}

// Whether a token may be written within a piece, or, at its start, as a whole one.
bool CanonicalAutomaton::MayBeRead(uint32_t token, bool start) const {
  return tokens_->Written(token) || (start && tokens_->WholeOnly(token));
}

// Calls visit(token, state, split) for the tokens that may be read here in the same piece, merges aside, until it says
// false.
template <class F>
void CanonicalAutomaton::ForEachMove(uint32_t place, const Trie& trie, F visit) {
  const Place at = places_[place];
  const bool start = at.spelled == CanonicalTokens::kPieceStart;
  const Trie::Node* nodes = trie.nodes.data;
  const bool meets = at.state & kMeet;
  rows_[0] = acceptor_->Row(StateIn(at.state));
  split_rows_[0] = pretokenizer_.Row(at.split);
  if (meets) text_rows_[0] = texts_->Row(meets_[at.state & ~kMeet].text);
  for (uint32_t n = 1; n < trie.Size();) {
    const Trie::Node& node = nodes[n];
    const State next = rows_[node.depth - 1][node.byte];
    const Pretokenizer::State split = split_rows_[node.depth - 1][node.byte];
    const CanonicalTexts::State text = meets ? text_rows_[node.depth - 1][node.byte] : 1;
    if (!next || !split || !text) {
      n = node.end;
      continue;
    }
    TimeLimit::Spend();
    for (uint32_t i = trie.TokensBegin(n); i < trie.TokensEnd(n); ++i) {
      const uint32_t token = trie.order[i];
      if (MayBeRead(token, start) && !visit(token, meets ? MeetOf(next, text) : next, split)) return;
    }
    if (node.end > n + 1) {
      rows_[node.depth] = acceptor_->Row(next);
      split_rows_[node.depth] = pretokenizer_.Row(split);
      if (meets) text_rows_[node.depth] = texts_->Row(text);
    }
    ++n;
  }
}

CanonicalAutomaton::Moves CanonicalAutomaton::MovesFrom(uint32_t place) {
  const auto known = moves_.find(place);
  if (known != moves_.end()) return known->second;
  std::vector<Move> found;
  const uint32_t node = places_[place].spelled;
  ForEachMove(place, vocabulary_->Masks().trie(), [&](uint32_t token, State state, Pretokenizer::State split) {
    if (!tokens_->WholeOnly(token)) found.push_back({token, PlaceOf(state, split, tokens_->Spelled(node, token))});
    return true;
  });
  std::stable_partition(found.begin(), found.end(), [&](const Move& m) { return PieceEnds(m.place); });
  found.shrink_to_fit();
  num_moves_ += found.size();
  return moves_.emplace(place, std::make_shared<const std::vector<Move>>(std::move(found))).first->second;
}

// Whether what is written up to a token, after which the text is at a place, can be completed.
bool CanonicalAutomaton::Completes(uint32_t place, uint32_t token) {
  if (PieceEnds(place)) return true;
  const bool* const known = completes_.Find(PairKey(place, token));
  if (known) return *known;
  Twins twins;
  if (!HasTwins(places_[place].state, &twins)) return Search(place, token);
  const bool completes = CompletesByTwins(place, token, twins);
  return completes_[PairKey(place, token)] = completes;
}

// Some tokens after which the piece can end; first those that merges seldom hold together with what is before them.
const CanonicalAutomaton::Enders& CanonicalAutomaton::EndersOf(uint32_t place) {
  const auto known = enders_.find(place);
  if (known != enders_.end()) return known->second;
  constexpr uint32_t kLookAt = 1024;
  constexpr size_t kMost = 8;
  std::vector<std::pair<size_t, uint32_t>> best;  // merges and tokens, in order
  uint32_t visits = 0;
  const uint32_t spelled = places_[place].spelled;
  ForEachMove(place, vocabulary_->Masks().trie(), [&](uint32_t token, State state, Pretokenizer::State split) {
    if (++visits > kLookAt) return false;
    const std::pair<size_t, uint32_t> found{pairs_->LeftMerges(token), token};
    if (best.size() == kMost && best.back() < found) return true;
    if (tokens_->WholeOnly(token) || !PieceEnds(PlaceOf(state, split, tokens_->Spelled(spelled, token)))) return true;
    if (best.size() == kMost) best.pop_back();
    best.insert(std::upper_bound(best.begin(), best.end(), found), found);
    return true;
  });
  Enders enders;
  for (const auto& [merges, token] : best) {
    enders.emplace_back();
    pairs_->FindLeftEdge(token, &enders.back());
  }
  return enders_.emplace(place, std::move(enders)).first->second;
}

bool CanonicalAutomaton::Search(uint32_t place, uint32_t token) {
  bool found = false;
  // Mostly a token that seldom merges does.
  if (const Enders& enders = EndersOf(place); !enders.empty()) {
    pairs_->FindRightEdge(token, &edge_);
    for (size_t i = 0; i < enders.size() && !found; ++i) found = pairs_->Fit(edge_, enders[i]);
  }
  // Or else what completed the token elsewhere.
  if (const auto witnesses = witnesses_.find(token); !found && witnesses != witnesses_.end())
    for (size_t i = 0; i < witnesses->second.size() && !found; ++i) {
      const uint32_t next = PlaceAfter(place, witnesses->second[i]);
      found = next != kNoPlace && PieceEnds(next);
    }
  if (found) {
    completes_[PairKey(place, token)] = true;
    return true;
  }
  if (num_moves_ > kMostMoves) {
    moves_.clear();
    num_moves_ = 0;
  }
  struct Frame {
    uint32_t place, token;
    Moves moves;
    size_t next = 0;
    BytePairs::Bits after;
  };
  std::unordered_set<uint64_t> seen{PairKey(place, token)};
  std::vector<Frame> stack;
  stack.push_back({place, token, MovesFrom(place), 0, nullptr});
  while (!stack.empty() && !found) {
    Frame& frame = stack.back();
    TimeLimit::Spend(4);
    if (frame.next == frame.moves->size()) {
      stack.pop_back();
      continue;
    }
    const Move move = (*frame.moves)[frame.next++];
    if (frame.next == kTries) frame.after = pairs_->After(frame.token);
    if (frame.after ? !HasToken(frame.after->data(), move.token) : !pairs_->Neighbours(frame.token, move.token)) continue;
    if (PieceEnds(move.place)) {
      found = true;
      std::vector<uint32_t>& known_to = witnesses_[frame.token];
      if (known_to.size() < kWitnesses) known_to.push_back(move.token);
      break;
    }
    const uint64_t key = PairKey(move.place, move.token);
    if (const bool* const known = completes_.Find(key)) {
      found = *known;
      continue;
    }
    if (!seen.insert(key).second) continue;
    if (completes_.Size() + seen.size() > options_.max_nodes)
      throw LimitError("canonical: limit max_nodes=" + std::to_string(options_.max_nodes) +
                       " reached while searching for tokens that may follow; simplify the constraint or raise it");
    stack.push_back({move.place, move.token, MovesFrom(move.place), 0, nullptr});
  }
  if (found)
    for (const Frame& frame : stack) completes_[PairKey(frame.place, frame.token)] = true;
  else
    for (const uint64_t key : seen) completes_[key] = false;
  return found;
}

// Whether the state reads characters of a class, *high of them, and the way does nothing but count them.
bool CanonicalAutomaton::LoopOf(State q, CanonicalLoops::Characters* characters, uint32_t* high) {
  LoopShape shape;
  if (acceptor_->Loop(q, &shape) && !shape.IsOnlyHan()) {
    *characters = {shape.ascii & ByteSet::Range(0, 0x7F), shape.non_ascii, shape.all_but_spaces};
    *high = shape.high;
    return true;
  }
  const StateRow row = acceptor_->Row(q);
  for (uint32_t b = 0; b < 0x80; ++b)
    if (row[b] == q) characters->ascii.Add(static_cast<uint8_t>(b));
  *high = kUnboundedLoop;
  characters->non_ascii = characters->ascii.Any() && AnyCharacterLoops(q);
  return characters->ascii.Any();
}

// Whether every character from U+0080 leads back.
bool CanonicalAutomaton::AnyCharacterLoops(State q) {
  constexpr size_t kMost = 16;
  std::vector<std::pair<State, uint8_t>> work;  // inside a character, with the phase there
  const auto add = [&work](State state, uint8_t phase) {
    const std::pair<State, uint8_t> at{state, phase};
    if (std::find(work.begin(), work.end(), at) == work.end()) work.push_back(at);
  };
  for (uint32_t b = 0x80; b < 256; ++b)
    if (const uint8_t phase = Utf8LeadPhase(static_cast<uint8_t>(b))) add(acceptor_->Row(q)[b], phase);
  for (size_t i = 0; i < work.size(); ++i) {
    const State state = work[i].first;
    const Utf8Phase phase = kUtf8Phases[work[i].second];
    if (!state || work.size() > kMost) return false;
    for (uint32_t b = phase.low; b <= phase.high; ++b) {
      const State next = acceptor_->Row(state)[b];
      if (phase.next)
        add(next, phase.next);
      else if (next != q)
        return false;
    }
  }
  return true;
}

// Whether the piece can end here if some character of the class comes next, whatever follows that.
bool CanonicalAutomaton::PieceSurelyEnds(Pretokenizer::State split, const CanonicalLoops::Characters& characters) {
  for (const Pretokenizer::State cut : pretokenizer_.Cuts(split)) {
    const Pretokenizer::State free = pretokenizer_.Free(cut);
    if (pretokenizer_.IsClear(free)) return true;
    const Pretokenizer::State* row = pretokenizer_.Row(free);
    bool clear = false;
    characters.ascii.ForEach([&](uint8_t b) { clear = clear || pretokenizer_.IsClear(row[b]); });
    const bool others = characters.non_ascii || characters.all_but_spaces;
    if (clear || (others && pretokenizer_.IsClear(pretokenizer_.Run(free, "\u4e00")))) return true;
  }
  return false;
}

CanonicalLoops::Ends CanonicalAutomaton::EndsOf(const CanonicalLoops::Class& c,
                                                const CanonicalLoops::Characters& characters,
                                                Pretokenizer::State split, CanonicalTexts::State text, bool start) {
  constexpr int kMostTries = 100;
  CanonicalLoops::Ends ends;
  ends.sure.assign(c.inside_bits.size(), 0);
  std::vector<int8_t> sure;  // by group; -1: not known
  const Trie& trie = tokens_->Loops().InClasses();
  std::vector<uint32_t> groups(trie.max_depth + 1);
  groups[0] = pretokenizer_.GroupOf(split);
  for (uint32_t n = 1; n < trie.Size();) {
    const Trie::Node& node = trie.nodes[n];
    const uint32_t to = pretokenizer_.NextGroup(groups[node.depth - 1], node.byte);
    if (to == Pretokenizer::kDeadGroup) {
      n = node.end;
      continue;
    }
    TimeLimit::Spend();
    groups[node.depth] = to;
    for (uint32_t i = trie.TokensBegin(n); i < trie.TokensEnd(n); ++i) {
      const uint32_t token = trie.order[i];
      if (!HasToken(c.inside_bits.data(), token) || !MayBeRead(token, start)) continue;
      if (to >= sure.size()) sure.resize(to + 64, -1);
      if (sure[to] < 0) sure[to] = PieceSurelyEnds(pretokenizer_.StateOf(to), characters);
      if (sure[to]) {
        SetToken(token, ends.sure.data());
        ++ends.num_sure;
      } else {
        ends.others.push_back(token);
      }
    }
    ++n;
  }
  for (const auto& [token, count] : c.begun) {
    if (!MayBeRead(token, start)) continue;
    const std::string_view bytes = vocabulary_->Token(token);
    const Pretokenizer::State to = pretokenizer_.Run(split, bytes);
    const CanonicalTexts::State rest = texts_ ? texts_->Run(text, bytes) : text;
    const uint32_t spelled = start ? tokens_->Spelled(CanonicalTokens::kPieceStart, token) : CanonicalTokens::kNoSpelling;
    int tries = kMostTries;
    if (to && (rest || !texts_) && FinishesCharacter(token, to, rest, spelled, characters, &tries))
      ends.begun.emplace_back(token, count);
  }
  return ends;
}

// Whether tokens can write the rest of a character, after which the piece can end if some character of the class comes
// next, whatever follows that.
bool CanonicalAutomaton::FinishesCharacter(uint32_t token, Pretokenizer::State split, CanonicalTexts::State text,
                                           uint32_t spelled, const CanonicalLoops::Characters& characters, int* tries) {
  for (const uint32_t next : tokens_->Inner()) {
    const std::string_view bytes = vocabulary_->Token(next);
    const Pretokenizer::State to = pretokenizer_.Run(split, bytes);
    const CanonicalTexts::State rest = texts_ ? texts_->Run(text, bytes) : text;
    if (!to || (texts_ && !rest)) continue;
    if (--*tries < 0) return false;
    TimeLimit::Spend();
    if (!pairs_->Neighbours(token, next)) continue;
    const uint32_t node = tokens_->Spelled(spelled, next);
    if (!pretokenizer_.IsBetween(to)) {
      if (FinishesCharacter(next, to, rest, node, characters, tries)) return true;
    } else if (!tokens_->SpellsWhole(node) && (!texts_ || texts_->IsOpen(rest)) && PieceSurelyEnds(to, characters)) {
      return true;
    }
  }
  return false;
}

// Where the constraint reads many characters of a class: sets bits of tokens inside of it from tables, and calls
// consider(token, state, split) for all others that may be read here. False: nothing done.
template <class F>
bool CanonicalAutomaton::FillLoop(uint32_t place, uint32_t* bits, F consider) {
  const Place at = places_[place];
  CanonicalLoops::Characters characters;
  uint32_t high = 0;
  if (!pretokenizer_.IsBetween(at.split) || !LoopOf(StateIn(at.state), &characters, &high) || high < 2) return false;
  if (!SurelyEnds(at.state) || (texts_ && !MeetsSurely(at.state))) return false;
  CanonicalLoops::Class* c = tokens_->Loops().Find(characters, options_.few_tokens);
  if (!c) return false;
  std::vector<uint32_t> split = pretokenizer_.Describe(at.split);
  const bool start = at.spelled == CanonicalTokens::kPieceStart;
  split.push_back(start ? 1 : 0);
  const CanonicalTexts::State text = texts_ ? meets_[at.state & ~kMeet].text : 0;
  const bool finishes = characters.non_ascii;  // characters that a token has begun
  if (texts_) {
    characters.ascii = characters.ascii & texts_->Usual();
    characters.non_ascii = characters.all_but_spaces = false;
    split.insert(split.end(), {static_cast<uint32_t>(texts_->Id()), static_cast<uint32_t>(texts_->Id() >> 32), text});
  }
  const auto ends = tokens_->Loops().EndsOf(c, split, [&] { return EndsOf(*c, characters, at.split, text, start); });
  if (ends->num_sure < 4 * ends->others.size() || ends->num_sure < options_.few_tokens) return false;
  // Tokens after which one more character can be read.
  const uint32_t before_last = c->NotLonger(high - 1);
  if (2 * before_last > c->inside.size()) {
    CopyRow(ends->sure.data(), Words(), bits);
    for (size_t i = before_last; i < c->inside.size(); ++i) ClearToken(c->inside[i], bits);
  } else {
    for (size_t i = 0; i < before_last; ++i) {
      const uint32_t token = c->inside[i];
      if (HasToken(ends->sure.data(), token)) SetToken(token, bits);
    }
  }
  const auto one = [&](uint32_t token) {
    const std::string_view text = vocabulary_->Token(token);
    const State state = Run(at.state, text);
    const Pretokenizer::State to = state ? pretokenizer_.Run(at.split, text) : Pretokenizer::kDead;
    if (to) consider(token, state, to);
  };
  const auto again = [&](uint32_t token) {
    ClearToken(token, bits);
    if (MayBeRead(token, start)) one(token);
  };
  if (texts_) {
    const auto tokens = texts_->TokensFrom(text);
    std::vector<uint32_t> others;
    for (const uint32_t token : tokens->others)
      if (token < 32 * Words() && HasToken(bits, token)) others.push_back(token);
    AndRow(tokens->open.data(), Words(), bits);
    for (const uint32_t token : others) one(token);
  }
  if (finishes)
    for (const auto& [token, count] : ends->begun)
      if (count < high) SetToken(token, bits);
  for (const uint32_t token : ends->others) one(token);
  for (size_t i = before_last; i < c->NotLonger(high); ++i)
    if (HasToken(ends->sure.data(), c->inside[i])) again(c->inside[i]);
  if (!start)
    for (const uint32_t token : tokens_->GoesOnWith(at.spelled)) again(token);
  ForEachMove(place, tokens_->Loops().Outside(c), [&](uint32_t token, State state, Pretokenizer::State to) {
    return HasToken(bits, token) || consider(token, state, to);
  });
  return true;
}

// Where the constraint is a union, some of whose parts read many characters of a class: sets the bits of its parts.
bool CanonicalAutomaton::FillParts(uint32_t place, bool models, uint32_t* bits) {
  constexpr size_t kMostParts = 16;
  const Place at = places_[place];
  const std::vector<State> parts = acceptor_->Alternatives(StateIn(at.state), kMostParts);
  CanonicalLoops::Characters characters;
  uint32_t high = 0;
  if (std::none_of(parts.begin(), parts.end(), [&](State q) { return q && LoopOf(q, &characters, &high); })) return false;
  for (const State q : parts)
    if (q) OrRow(Useful(PlaceOf(Beside(q, at.state), at.split, at.spelled), models), Words(), bits);
  return true;
}

// Where most characters lead to a state that is much like this one: takes its bits, and calls consider(token, state,
// split) for tokens that lead elsewhere from here, once their bits are cleared.
template <class F>
bool CanonicalAutomaton::FillFromModel(uint32_t place, uint32_t* bits, F consider) {
  constexpr int kMany = 60, kNearlyAll = 200;  // of the 95 printable characters of ASCII, and of all bytes
  const Place at = places_[place];
  const State q = StateIn(at.state);
  const StateRow row = acceptor_->Row(q);
  State model = DelayedAcceptor::kDead;  // of the majority, if there is one
  int votes = 0;
  for (int b = 0x20; b < 0x7F; ++b) {
    if (!votes) model = row[b];
    votes += row[b] == model ? 1 : -1;
  }
  if (!model || model == q) return false;
  int many = 0;
  for (int b = 0x20; b < 0x7F; ++b) many += row[b] == model;
  if (many < kMany) return false;
  const StateRow other = acceptor_->Row(model);
  int alike = 0;
  for (int b = 0; b < 256; ++b) alike += row[b] == other[b];
  if (alike < kNearlyAll) return false;
  std::copy_n(Useful(PlaceOf(Beside(model, at.state), at.split, at.spelled), false), Words(), bits);
  const Trie& trie = vocabulary_->Masks().trie();
  const bool start = at.spelled == CanonicalTokens::kPieceStart, meets = at.state & kMeet;
  const StateRow nothing = acceptor_->Row(DelayedAcceptor::kDead);
  std::vector<StateRow> others(trie.max_depth + 2);
  others[0] = other;
  rows_[0] = row;
  split_rows_[0] = pretokenizer_.Row(at.split);
  if (meets) text_rows_[0] = texts_->Row(meets_[at.state & ~kMeet].text);
  for (uint32_t n = 1; n < trie.Size();) {
    const Trie::Node& node = trie.nodes[n];
    const uint32_t depth = node.depth, b = node.byte;
    const State next = rows_[depth - 1][b], its = others[depth - 1][b];
    if (next == its) {
      n = node.end;
      continue;
    }
    TimeLimit::Spend();
    const Pretokenizer::State split = split_rows_[depth - 1][b];
    const CanonicalTexts::State text = meets ? text_rows_[depth - 1][b] : 1;
    const uint32_t end = next && split && text ? trie.TokensEnd(n) : trie.TokensBegin(node.end);
    for (uint32_t i = trie.TokensBegin(n); i < end; ++i) ClearToken(trie.order[i], bits);
    if (!next || !split || !text) {
      n = node.end;
      continue;
    }
    for (uint32_t i = trie.TokensBegin(n); i < end; ++i)
      if (MayBeRead(trie.order[i], start)) consider(trie.order[i], meets ? MeetOf(next, text) : next, split);
    if (node.end > n + 1) {
      rows_[depth] = acceptor_->Row(next);
      others[depth] = its ? acceptor_->Row(its) : nothing;
      split_rows_[depth] = pretokenizer_.Row(split);
      if (meets) text_rows_[depth] = texts_->Row(text);
    }
    ++n;
  }
  return true;
}

// The tokens after which what is written here can be completed; merges with what stands before aside. Without `models`
// they are not taken from those of a state that is like this one.
const uint32_t* CanonicalAutomaton::Useful(uint32_t place, bool models) {
  const auto known = useful_.find(place);
  if (known != useful_.end()) return known->second.get();
  return FindUseful(place, models);
}

const uint32_t* CanonicalAutomaton::FindUseful(uint32_t place, bool models) {
  std::unique_ptr<uint32_t[]> bits(new uint32_t[Words()]());
  Twins twins;
  if (HasTwins(places_[place].state, &twins))
    FillByTwins(place, twins, bits.get());
  else
    FillUseful(place, models, bits.get());
  if ((useful_.size() + 1) * Words() * sizeof(uint32_t) > options_.cache_bytes) useful_.clear();
  return useful_.emplace(place, std::move(bits)).first->second.get();
}

void CanonicalAutomaton::FillUseful(uint32_t place, bool models, uint32_t* bits) {
  std::vector<Move> open;  // whose piece cannot end
  const uint32_t spelled = places_[place].spelled;
  // Neighbouring tokens mostly lead to the same place.
  State last_state = DelayedAcceptor::kDead;
  Pretokenizer::State last_split = Pretokenizer::kDead;
  uint32_t last_place = 0;
  bool last_ends = false;
  const auto consider = [&](uint32_t token, State state, Pretokenizer::State split) {
    const uint32_t node = tokens_->Spelled(spelled, token);
    uint32_t to;
    bool ends;
    if (node == CanonicalTokens::kNoSpelling && state == last_state && split == last_split) {
      to = last_place;
      ends = last_ends;
    } else {
      to = PlaceOf(state, split, node);
      ends = PieceEnds(to);
      if (node == CanonicalTokens::kNoSpelling) {
        last_state = state;
        last_split = split;
        last_place = to;
        last_ends = ends;
      }
    }
    if (ends)
      SetToken(token, bits);
    else if (!tokens_->WholeOnly(token))
      open.push_back({token, to});
    return true;
  };
  if (!FillLoop(place, bits, consider)) {
    if (FillParts(place, models, bits)) return;
    if (!models || !FillFromModel(place, bits, consider)) ForEachMove(place, vocabulary_->Masks().trie(), consider);
  }
  for (const Move& move : open)
    if (Completes(move.place, move.token)) SetToken(move.token, bits);
}

// ---------------------------------------------------------------------------------------------- states that remember

bool CanonicalAutomaton::Final(State q) const {
  return acceptor_->IsFinal(StateIn(q)) && (!(q & kMeet) || texts_->IsFinal(meets_[q & ~kMeet].text));
}

CanonicalAutomaton::State CanonicalAutomaton::Run(State q, std::string_view text) {
  if (!(q & kMeet)) return acceptor_->Run(q, text);
  const Meet at = meets_[q & ~kMeet];
  const CanonicalTexts::State rest = texts_->Run(at.text, text);
  return rest ? MeetOf(acceptor_->Run(at.state, text), rest) : State{DelayedAcceptor::kDead};
}

CanonicalAutomaton::State CanonicalAutomaton::MeetOf(State state, CanonicalTexts::State text) {
  if (!state || !text) return DelayedAcceptor::kDead;
  const uint64_t key = PairKey(state, text);
  if (const State* const known = meet_of_.Find(key)) return *known;
  const State meet = kMeet | static_cast<State>(meets_.size());
  meets_.push_back({state, text});
  return meet_of_[key] = meet;
}

// A state beside the text that another one stands beside.
CanonicalAutomaton::State CanonicalAutomaton::Beside(State state, State q) {
  return q & kMeet ? MeetOf(state, meets_[q & ~kMeet].text) : state;
}

// Whether a text leads to members from both where usual bytes are enough.
bool CanonicalAutomaton::MeetsSurely(State q, CanonicalTexts::State text) {
  return texts_->IsOpen(text) && acceptor_->SurelyEnds(q, texts_->Usual());
}

bool CanonicalAutomaton::MeetsSurely(State q) {
  Meet& at = meets_[q & ~kMeet];
  if (at.surely < 0) at.surely = MeetsSurely(at.state, at.text);
  return at.surely;
}

// Whether some text leads from a state that remembers nothing to a member; no where it is not sure.
bool CanonicalAutomaton::SurelyEnds(State q) {
  if (q & kMeet) return MeetsSurely(q) || meets_[q & ~kMeet].may_end > 0;
  return !may_remember_ || acceptor_->SurelyEnds(q, ByteSet::All());
}

// The same, decided where members have to be among texts; yes where it is not sure otherwise.
bool CanonicalAutomaton::MayEnd(State q) {
  if (!(q & kMeet) || MeetsSurely(q)) return true;
  Meet& at = meets_[q & ~kMeet];
  if (at.may_end < 0)
    at.may_end = acceptor_->WithBuilder([&](Expressions& pool) {
      const Expr text = pool.Automaton(texts_->Table(), at.text);
      return !pool.IsEmpty(pool.Intersect(acceptor_->SourceOf(at.state), text));
    });
  return at.may_end;
}

// The state of a position among places.
CanonicalAutomaton::State CanonicalAutomaton::StateOf(const Position& position) {
  return texts_ ? MeetOf(position.state, position.text) : position.state;
}

bool CanonicalAutomaton::HasTwins(State q, Twins* twins) {
  if (!may_remember_) return false;
  const State state = StateIn(q), over = acceptor_->Over(state);
  if (over == state) return false;
  *twins = {over, acceptor_->Within(state)};
  if (!(q & kMeet)) return true;
  const CanonicalTexts::State text = meets_[q & ~kMeet].text;
  *twins = {MeetOf(twins->over, text), MeetOf(twins->within, text)};
  return true;
}

void CanonicalAutomaton::ThrowTried(State q) const {
  throw LimitError(WithPlace("canonical: the limit tried=" + std::to_string(kMostTried) +
                             " was reached (texts, where keys or elements must differ); simplify the schema, or pass"
                             " unique_keys=False to json_schema", acceptor_->PlaceOf(StateIn(q))));
}

// Where the two differ, texts are tried, nearest first.
bool CanonicalAutomaton::FollowsByTwins(State state, Pretokenizer::State free, const Twins& twins) {
  if (!CanFollow(twins.over, free)) return false;
  if (!acceptor_->Approximates()) return true;
  if (twins.within && CanFollow(twins.within, free)) return true;
  constexpr size_t kFew = 8;  // places, whose nearest end is looked at
  std::unordered_set<uint64_t> seen{PairKey(state, free)};
  std::vector<std::pair<State, Pretokenizer::State>> work{{state, free}};
  for (size_t i = 0; i < work.size(); ++i) {
    const auto [q, f] = work[i];
    TimeLimit::Spend(8);
    if (Final(q) && pretokenizer_.IsEnd(f)) return true;
    if (pretokenizer_.IsClear(f)) {
      if (!(q & kMeet)) return true;
      const State end = i < kFew ? Run(q, Completion(acceptor_.get(), StateIn(q))) : State{DelayedAcceptor::kDead};
      if (end && Final(end)) return true;
    }
    Twins near{q, q};
    HasTwins(q, &near);
    if (i && !CanFollow(near.over, f)) continue;
    if (i && near.within && CanFollow(near.within, f)) return true;
    const auto add = [&](State to, Pretokenizer::State split) {
      if (to && split && seen.insert(PairKey(to, split)).second) work.emplace_back(to, split);
    };
    const StateRow over = acceptor_->Row(StateIn(near.over));
    for (uint32_t b = 0; b < 256; ++b) {
      const char byte = static_cast<char>(b);
      if (over[b] && pretokenizer_.Row(f)[b]) add(Run(q, {&byte, 1}), pretokenizer_.Row(f)[b]);
    }
    for (const Pretokenizer::State cut : pretokenizer_.Cuts(f)) add(q, cut);
    if (seen.size() > kMostTried) ThrowTried(state);
  }
  return false;
}

// The place after a token; kNoPlace where it is not allowed.
uint32_t CanonicalAutomaton::PlaceAfter(uint32_t place, uint32_t token) {
  const Place at = places_[place];
  const std::string_view text = vocabulary_->Token(token);
  TimeLimit::Spend(8);
  const State state = Run(at.state, text);
  const Pretokenizer::State split = state ? pretokenizer_.Run(at.split, text) : Pretokenizer::kDead;
  return split ? PlaceOf(state, split, tokens_->Spelled(at.spelled, token)) : kNoPlace;
}

bool CanonicalAutomaton::CompletesByTwins(uint32_t place, uint32_t token, const Twins& twins) {
  const Place at = places_[place];
  const uint32_t over = PlaceOf(twins.over, at.split, at.spelled);
  if (!Completes(over, token)) return false;
  if (!acceptor_->Approximates()) return true;
  const uint32_t within = twins.within ? PlaceOf(twins.within, at.split, at.spelled) : kNoPlace;
  if (within != kNoPlace && Completes(within, token)) return true;
  struct Nested {
    uint32_t* depth;
    ~Nested() { --*depth; }
  };
  const Nested nested{&++tried_};
  if (tried_ > kMostNested) ThrowTried(at.state);
  const Moves moves = MovesFrom(over);
  for (const Move& move : *moves) {
    if (!pairs_->Neighbours(token, move.token)) continue;
    const uint32_t next = PlaceAfter(place, move.token);
    if (next != kNoPlace && Completes(next, move.token)) return true;
  }
  return false;
}

void CanonicalAutomaton::FillByTwins(uint32_t place, const Twins& twins, uint32_t* bits) {
  const Place at = places_[place];
  std::copy_n(Useful(PlaceOf(twins.over, at.split, at.spelled)), Words(), bits);
  if (!acceptor_->Approximates()) return;
  std::vector<uint32_t> open(bits, bits + Words());
  if (twins.within) {
    const uint32_t* const surely = Useful(PlaceOf(twins.within, at.split, at.spelled));
    for (uint32_t w = 0; w < Words(); ++w) open[w] &= ~surely[w];
  }
  ForEachTokenIn(open.data(), Words(), [&](uint32_t token) {
    const uint32_t next = PlaceAfter(place, token);
    const bool useful = next != kNoPlace && (tokens_->WholeOnly(token) ? PieceEnds(next) : Completes(next, token));
    if (!useful) ClearToken(token, bits);
  });
}

// f(), once more where what is known takes more room than there is.
template <class F>
auto CanonicalAutomaton::WithRoom(F f) {
  const TimeLimit time("canonical", "search_seconds", seconds_);
  const std::lock_guard<std::mutex> lock(mutex_);
  try {
    return f();
  } catch (const CapacityError&) {
    Renew();
    return f();
  }
}

// Positions take their expressions along; what the pretokenizer has read stays known.
void CanonicalAutomaton::Renew() {
  acceptor_ = std::static_pointer_cast<ExpressionAcceptor>(acceptor_->Renewed());
  ++renewals_;
  meets_.clear();
  meet_of_ = {};
  places_.clear();
  place_of_ = {};
  can_follow_ = {};
  completes_ = {};
  moves_.clear();
  num_moves_ = 0;
  enders_.clear();
  useful_.clear();
  start_ = Here(start_);
}

// The position in states of the acceptor at hand.
CanonicalAutomaton::Position CanonicalAutomaton::Here(const Position& position) {
  Position here = position;
  if (!position.state || position.of == acceptor_) return here;
  std::vector<State> states{position.state};
  acceptor_->Adopt(*position.of, &states);
  here.state = states[0];
  here.of = acceptor_;
  return here;
}

CanonicalAutomaton::Position CanonicalAutomaton::Start() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return start_;
}

bool CanonicalAutomaton::IsFinal(const Position& position) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return Ends(position);
}

bool CanonicalAutomaton::Ends(const Position& position) const {
  if (!position.state || !position.of->IsFinal(position.state)) return false;
  if (texts_ && !texts_->IsFinal(position.text)) return false;
  for (const Guess& guess : position.guesses)
    if (!tokens_->SpellsWhole(guess.spelled) && pretokenizer_.IsEnd(guess.split)) return true;
  return false;
}

void CanonicalAutomaton::FillMask(const Position& position, uint32_t* out) {
  if (position.state)
    WithRoom([&] { position.of == acceptor_ ? Fill(position, out) : Fill(Here(position), out); });
  else
    std::memset(out, 0, Words() * sizeof(uint32_t));
}

void CanonicalAutomaton::Fill(const Position& position, uint32_t* out) {
  const State state = StateOf(position);
  const uint32_t words = std::min(Words(), pairs_->Words());
  bool first = true;  // writes the row, the others add to it
  for (const Guess& guess : position.guesses) {
    const uint32_t* useful = Useful(PlaceOf(state, guess.split, guess.spelled));
    const BytePairs::Bits after = guess.last == kNoToken ? nullptr : pairs_->After(guess.last);
    if (first) CopyRow(useful, Words(), out);
    if (first && after) {
      AndRow(after->data(), words, out);
      std::fill(out + words, out + Words(), 0);
    } else if (after) {
      OrMeet(useful, after->data(), words, out);
    } else if (!first) {
      OrRow(useful, Words(), out);
    }
    first = false;
  }
  if (Ends(position))
    for (const uint32_t id : vocabulary_->EosIds()) SetToken(id, out);
}

CanonicalAutomaton::Position CanonicalAutomaton::Advance(const Position& position, uint32_t token) {
  if (!position.state || vocabulary_->Token(token).empty() || token >= pairs_->Size()) return {};
  return WithRoom([&] { return After(Here(position), token); });
}

CanonicalAutomaton::Position CanonicalAutomaton::After(const Position& position, uint32_t token) {
  Position next;
  const std::string_view text = vocabulary_->Token(token);
  next.state = acceptor_->Run(position.state, text);
  if (texts_) next.text = texts_->Run(position.text, text);
  const State state = StateOf(next);
  if (!state) return {};
  for (const Guess& guess : position.guesses) {
    const bool start = guess.last == kNoToken;
    if (!MayBeRead(token, start) || (!start && !pairs_->Neighbours(guess.last, token))) continue;
    const Pretokenizer::State split = pretokenizer_.Run(guess.split, text);
    if (!split) continue;
    const uint32_t spelled = tokens_->Spelled(guess.spelled, token);
    const auto add = [&](const Guess& g) {
      if (std::find(next.guesses.begin(), next.guesses.end(), g) == next.guesses.end()) next.guesses.push_back(g);
    };
    const uint32_t place = PlaceOf(state, split, spelled);
    if (!tokens_->WholeOnly(token) && Completes(place, token)) add({split, token, spelled});
    if (!PieceEnds(place)) continue;
    for (const Pretokenizer::State cut : pretokenizer_.Cuts(split))
      if (CanFollow(state, pretokenizer_.Free(cut))) add({cut, kNoToken, CanonicalTokens::kPieceStart});
  }
  if (next.guesses.empty()) return {};
  next.of = acceptor_;
  return next;
}

size_t CanonicalAutomaton::NumStates() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return places_.size();
}

size_t CanonicalAutomaton::NumRenewals() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return renewals_;
}

}  // namespace tokamata
