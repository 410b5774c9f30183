#include "decode/csrc/mask.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "decode/csrc/substring_mask.h"
#include "decode/csrc/walk.h"

namespace tokamata {
namespace {

constexpr int kMaxDepth = 3;             // unions and shared states inside each other
constexpr size_t kMaxAlternatives = 8;   // members of a union that are masked one by one
constexpr size_t kMaxRegion = 128;       // (state, UTF-8 phase) pairs of one semantic loop
constexpr size_t kMaxAsciiRegion = 24;   // of one over ASCII characters
constexpr uint32_t kSomeTokens = 256;    // below a node, from which it is worth finding out how its state loops
constexpr uint32_t kSomeInside = 64;     // of them inside a class, from which its factor is better than a walk
constexpr ptrdiff_t kFewMore = 64;       // tokens by which a row may differ from its base before it is completed

// The first bytes of the characters in kWideSpaces, and those characters, as big-endian numbers; sorted.
struct SpaceBytes {
  std::vector<uint32_t> begun, whole;
};
const SpaceBytes& WideSpaceBytes() {
  static const SpaceBytes bytes = [] {
    SpaceBytes s;
    for (const auto& [low, high] : kWideSpaces)
      for (uint32_t c = low; c <= high; ++c) {
        const bool two = c < 0x800;
        const uint32_t lead = two ? 0xC0 | c >> 6 : 0xE0 | c >> 12;
        const uint32_t next = lead << 8 | 0x80 | (two ? c & 63 : c >> 6 & 63);
        s.begun.push_back(lead);
        if (!two) s.begun.push_back(next);
        s.whole.push_back(two ? next : next << 8 | 0x80 | (c & 63));
      }
    std::sort(s.begun.begin(), s.begun.end());
    std::sort(s.whole.begin(), s.whole.end());
    return s;
  }();
  return bytes;
}

void OrRow(const uint32_t* __restrict from, uint32_t words, uint32_t* __restrict to) {
  for (uint32_t i = 0; i < words; ++i) to[i] |= from[i];
}

// The acceptor as one of expressions if some of them are grammars, else null.
ExpressionAcceptor* WithGrammars(DelayedAcceptor* acceptor) {
  auto* expressions = dynamic_cast<ExpressionAcceptor*>(acceptor);
  const auto has = [](const Expressions& pool) { return pool.HasLeaves(); };
  return expressions && expressions->WithPool(has) ? expressions : nullptr;
}

}  // namespace

MaskBuilder::MaskBuilder(DelayedAcceptor* acceptor, const Vocabulary* vocabulary)
    : acceptor_(acceptor),
      grammars_(WithGrammars(acceptor)),
      vocabulary_(vocabulary),
      factoring_(vocabulary->Masks()),
      trie_(factoring_.trie()),
      complete_(vocabulary->SpellsAnyText()),
      path_(trie_.max_depth + 2) {}

void MaskBuilder::SetEos(State q, uint32_t* row) const {
  for (uint32_t id : vocabulary_->EosIds()) {
    row[id >> 5] &= ~(1u << (id & 31));
    if (acceptor_->IsFinal(q)) Set(id, row);
  }
}

void MaskBuilder::Build(State q, uint32_t* row) {
  stack_.clear();  // what a LimitError left
  if (!complete_) return BuildByWalking(q, row);
  run_spaced_ = false;
  building_ = row;
  base_ = nullptr;
  BuildAny(q, row, 0);
  if (run_spaced_) RunTokens(vocabulary_->WithWideSpaces(), q, row);
  SetEos(q, row);
}

void MaskBuilder::BuildByWalking(State q, uint32_t* row) {
  std::memset(row, 0, size_t{factoring_.Words()} * sizeof(uint32_t));
  ForEachLiveToken(trie_, 0, acceptor_, q, &path_, [&](uint32_t node, State next) {
    if (complete_ || CanFinish(next)) SetTokens(trie_, node, row);
  });
  SetEos(q, row);
}

void MaskBuilder::BuildAny(State q, uint32_t* row, int depth) {
  const uint32_t words = factoring_.Words();
  if (grammars_ && (BuildLexed(q, row) || BuildPieces(q, row, depth))) return;
  if (depth < kMaxDepth && (BuildBounded(q, row, depth) || (depth == 0 && BuildUnbounded(q, row)))) return;
  const Plan plan = PlanOf(q, depth);
  if (plan.how == Plan::kLoop) return BuildLoop(q, LoopOf(q), row);
  if (plan.how == Plan::kShared) return BuildShared(q, plan.model, row, depth);
  if (plan.how == Plan::kTexts && plan.model) {
    BuildModel(plan.model, row, depth);
  } else {
    std::memset(row, 0, size_t{words} * sizeof(uint32_t));
  }
  if (plan.how == Plan::kTexts) {
    State model;
    TextNode place;
    acceptor_->Texts(q, &model, &place);
    return WalkTexts(0, place, model, row);
  }
  if (plan.how == Plan::kUnion) {
    std::vector<uint32_t> part(words);
    for (State a : acceptor_->Alternatives(q, kMaxAlternatives)) {
      BuildAny(Canonical(a), part.data(), depth + 1);
      OrRow(part.data(), words, row);
    }
    return;
  }
  stack_.push_back({0, q});
  Drain(stack_.size() - 1, row);
}

// The state of a grammar with a lexer.
bool MaskBuilder::BuildLexed(State q, uint32_t* row) {
  bool built = false;
  grammars_->WithLeaf(q, [&](LeafAutomaton* leaf, uint32_t state) {
    std::unique_ptr<LexedMask>& masks = lexed_[leaf];
    if (!masks) {
      auto* grammar = dynamic_cast<LexedGrammar*>(leaf);
      if (!grammar) return;
      masks = std::make_unique<LexedMask>(grammar, vocabulary_);
    }
    std::memset(row, 0, size_t{factoring_.Words()} * sizeof(uint32_t));
    masks->Add(state, row);
    built = true;
  });
  return built;
}

// A piece of a text and what follows it, or a union with such a state.
bool MaskBuilder::BuildPieces(State q, uint32_t* row, int depth) {
  const SuffixAutomaton* text = nullptr;
  Substrings::Ranges ranges;
  bool final = false;
  State rest = DelayedAcceptor::kDead;
  const auto read = [&](LeafAutomaton* leaf, uint32_t state, State after) {
    auto* pieces = dynamic_cast<Substrings*>(leaf);
    if (!pieces) return;
    text = &pieces->Automaton();
    ranges = pieces->RangesOf(state);
    final = pieces->IsFinal(state);
    rest = after;
  };
  grammars_->WithLeafAndRest(q, read);
  if (!text) {
    if (depth >= kMaxDepth) return false;
    const std::vector<State> parts = acceptor_->Alternatives(q, kMaxAlternatives);
    for (State a : parts) grammars_->WithLeafAndRest(a, read);
    if (!text) return false;
    std::memset(row, 0, size_t{factoring_.Words()} * sizeof(uint32_t));
    std::vector<uint32_t> part(factoring_.Words());
    for (State a : parts) {
      BuildAny(Canonical(a), part.data(), depth + 1);
      OrRow(part.data(), factoring_.Words(), row);
    }
    return true;
  }
  std::memset(row, 0, size_t{factoring_.Words()} * sizeof(uint32_t));
  const size_t base = stack_.size();
  const ByteSet follows = rest ? acceptor_->Live(rest) : ByteSet();
  const auto inside = [&](uint32_t node) { SetTokens(trie_, node, row); };
  const auto ends = [&](uint32_t node) {
    if (!follows.Any()) return;
    bool any = node == 0;
    trie_.ForEachChild(node, [&](uint32_t child) { any = any || follows.Has(trie_.nodes[child].byte); });
    if (any) stack_.push_back({node, Near(rest, trie_, node)});
  };
  WalkSubstrings(*text, ranges, final, trie_, inside, ends);
  Drain(base, row);
  return true;
}

MaskBuilder::Plan MaskBuilder::PlanOf(State q, int depth) {
  if (depth >= kMaxDepth) return {LoopOf(q).kind != Loop::kNone ? Plan::kLoop : Plan::kWalk, DelayedAcceptor::kDead};
  if (q >= plans_.size()) plans_.resize(std::max<size_t>(q + 1, plans_.size() * 2));
  if (plans_[q].how == Plan::kUnknown) plans_[q] = FindPlan(q);
  return plans_[q];
}

bool MaskBuilder::FindTraits(State q) {
  if (q >= traits_of_.size()) traits_of_.resize(std::max<size_t>(q + 1, traits_of_.size() * 2));
  if (acceptor_->Plain(q)) {
    traits_of_[q] = kPlain;
    return true;
  }
  Traits t;
  State model;
  TextNode place;
  t.texts = acceptor_->Texts(q, &model, &place);
  t.counts = !t.texts && acceptor_->Counts(q, &t.low, &t.high, &t.star, &t.unbounded);
  if (!t.texts && !t.counts)
    for (State a : acceptor_->Alternatives(q, kMaxAlternatives))
      t.parts = t.parts || acceptor_->Texts(a, &model, &place);
  traits_of_[q] = kPlain;
  if (!t.texts && !t.counts && !t.parts) return true;
  traits_of_[q] = static_cast<uint32_t>(traits_.size()) + kFirstTraits;
  traits_.push_back(t);
  return false;
}

MaskBuilder::Plan MaskBuilder::FindPlan(State q) {
  State texts;
  TextNode place;
  if (acceptor_->Texts(q, &texts, &place)) return {Plan::kTexts, texts};
  if (TraitsOf(q).parts) return {Plan::kUnion, q};
  Loop counted;
  if (!FindCounted(q, &counted))  // cheaper than to look for loops in what states do
    if (const State model = SharedState(q, true); model && AgreeBeyondAscii(q, model)) return {Plan::kShared, model};
  if (LoopOf(q).kind != Loop::kNone) return {Plan::kLoop, q};
  if (AnyLoops(acceptor_->Alternatives(q, kMaxAlternatives))) return {Plan::kUnion, q};
  if (const State model = SharedState(q, false)) return {Plan::kShared, model};
  return {Plan::kWalk, q};
}

// ---------------------------------------------------------------------------------------------- finding loops

bool MaskBuilder::AnyLoops(const std::vector<State>& states) {
  return std::any_of(states.begin(), states.end(),
                     [this](State a) { return ReadsTexts(a) || LoopOf(Canonical(a)).kind != Loop::kNone; });
}

const MaskBuilder::Loop& MaskBuilder::LoopOf(State q) {
  static const Loop none;
  const auto slot = [this](State s) -> uint32_t& {
    if (s >= loop_of_.size()) loop_of_.resize(std::max<size_t>(s + 1, loop_of_.size() * 2));
    return loop_of_[s];
  };
  constexpr uint32_t kUnknown = 0, kNone = 1, kFirst = 2;
  if (slot(q) == kUnknown) {
    Loop loop;
    std::vector<State> alike{q};
    if (!FindLoop(q, &loop, &alike)) {
      slot(q) = kNone;
    } else {
      loops_.push_back(loop);
      for (State s : alike) slot(s) = static_cast<uint32_t>(loops_.size() - 1) + kFirst;
    }
  }
  return loop_of_[q] == kNone ? none : loops_[loop_of_[q] - kFirst];
}

// Lists further states with the same loop in *alike.
bool MaskBuilder::FindLoop(State q, Loop* loop, std::vector<State>* alike) {
  const bool counted = FindCounted(q, loop);
  if (counted) loop->kind = Loop::kCounted;
  const bool bounded = counted && loop->shape.high != kUnboundedLoop;
  if (counted && (bounded || (loop->outer < 0 && loop->inner <= kNotNewline))) return true;
  const auto semantic = [&](int class_id, bool exclude) {
    Loop found;
    std::vector<State> between;
    if (!FindSemantic(q, class_id, exclude, &found, &between)) return false;
    *loop = found;
    if (found.outer >= 0) {  // below nodes that are no root a class inside of the loop is needed
      Loop own;
      std::vector<State> inside;
      if (FindSemantic(q, kWord, false, &own, &inside)) {
        loop->inner = own.inner;
        return true;  // its states need not agree on the others
      }
    }
    for (State s : between) {
      Loop own;  // a loop that knows more of itself keeps that
      if (s != q && !(FindCounted(s, &own) && own.inner >= 0 && own.inner <= kNotNewline)) alike->push_back(s);
    }
    return true;
  };
  const ByteSet& live = acceptor_->Live(q);
  if (live.Count() >= 100)
    for (const bool exclude : {false, true}) {
      for (int c : {kAny, kNotNewline, kJsonText})
        if (semantic(c, exclude)) return true;
      if (counted && loop->outer >= 0) return true;
    }
  if (counted) return true;
  for (int c : {kWord, kAlnum, kAlpha, kLower, kUpper})
    if (CharacterClasses()[static_cast<size_t>(c)].first.SubsetOf(live) && semantic(c, false)) return true;
  return false;
}

// The class inside the loop's characters that leaves the fewest tokens to walk, and one around them if that is better.
bool MaskBuilder::FindCounted(State q, Loop* loop) {
  if (!acceptor_->Loop(q, &loop->shape)) return false;
  const LoopShape& shape = loop->shape;
  const bool wide = shape.non_ascii || shape.all_but_spaces;
  double best = -1;
  for (int c = 0; c < kNumClasses; ++c) {
    const CharacterClass& k = CharacterClasses()[static_cast<size_t>(c)];
    if (!k.ascii.SubsetOf(shape.ascii) || (k.non_ascii && !wide)) continue;
    double left = wide && !k.non_ascii ? factoring_.TokensWithNonAscii() : 0;
    (shape.ascii - k.ascii).ForEach([&](uint8_t b) { left += factoring_.TokensWithByte(b); });
    left -= 1e-6 * static_cast<double>(factoring_.At(0, c)->inside.size());  // of equals, the larger class
    if (best < 0 || left < best) {
      best = std::max(left, 0.0);
      loop->inner = static_cast<int8_t>(c);
    }
  }
  if (wide) FindOuter(q, loop->inner < 0 ? 1e9 : best, loop);
  return loop->inner >= 0 || loop->outer >= 0;
}

// A class around the loop's characters, where clearing the tokens with other bytes is cheaper than walking what the
// inner class leaves.
void MaskBuilder::FindOuter(State q, double inner_cost, Loop* loop) {
  const LoopShape& shape = loop->shape;
  const ByteSet non_ascii_lead = ByteSet::Range(0xC2, 0xF4);
  const ByteSet exits = (acceptor_->Live(q) | shape.rest_first | shape.body_first) - shape.ascii - non_ascii_lead;
  double best = inner_cost / 2;
  for (int c : {kAny, kNotNewline, kJsonText}) {
    const CharacterClass& k = CharacterClasses()[static_cast<size_t>(c)];
    if (!shape.ascii.SubsetOf(k.ascii)) continue;
    const ByteSet excluded = k.ascii - shape.ascii;
    double cost = 0;
    bool possible = true;
    (excluded | exits).ForEach([&](uint8_t b) {
      const uint32_t tokens = factoring_.TokensWithByte(b);
      possible = possible && (!tokens || factoring_.Containing(b));
      cost += std::min<uint32_t>(tokens, 700);
    });
    if (!possible || !excluded.Any() || cost >= best) continue;
    best = cost;
    loop->outer = static_cast<int8_t>(c);
    loop->excluded = excluded;
  }
}

// Whether all states reached from q by whole characters of the class stay alive on every such character, and agree on
// every byte that begins no character of the class: then they all allow the same tokens. Lists those states. With
// `exclude`, a few rare ASCII bytes of the class may end the loop; rare bytes that the states do not agree on are noted.
// White space beyond ASCII may end it, too: the loop is then one of all_but_spaces.
bool MaskBuilder::FindSemantic(State q, int class_id, bool exclude, Loop* loop, std::vector<State>* between) {
  constexpr int kMostExcluded = 8;
  const CharacterClass& c = CharacterClasses()[static_cast<size_t>(class_id)];
  const size_t most = c.non_ascii ? kMaxRegion : kMaxAsciiRegion;
  const auto rare = [&](uint8_t b) { return exclude && factoring_.Containing(b) != nullptr; };
  ByteSet first = c.first, checked;
  const auto drop = [&](uint8_t b) {  // takes a byte out of the loop if that is possible
    if (!rare(b)) return false;
    first.Remove(b);
    return (c.first - first).Count() <= kMostExcluded;
  };
  bool possible = true;
  (first - acceptor_->Live(q)).ForEach([&](uint8_t b) { possible = possible && drop(b); });
  if (!possible) return false;
  struct At {
    State state;
    uint8_t phase;
    int16_t via;     // the ASCII byte that first led here, or -1
    uint32_t from;   // in the list of work: where it was read
    uint32_t begun;  // what was read of a character, where it may become white space
  };
  const SpaceBytes& spaces = WideSpaceBytes();
  bool spaced = false;
  const State* reference = acceptor_->Row(q);
  std::vector<At> work;
  // Takes the last possible byte on the way to a place out of the loop.
  const auto drop_way = [&](At at) {
    for (; at.via >= 0; at = work[at.from])
      if (drop(static_cast<uint8_t>(at.via))) return true;
    return false;
  };
  const auto push = [&work, most](State s, uint8_t phase, int b, uint32_t begun, size_t from) {
    for (const At& a : work)
      if (a.state == s && a.phase == phase && a.begun == begun) return true;
    if (work.size() >= most) return false;
    work.push_back({s, phase, static_cast<int16_t>(b < 0x80 ? b : -1), static_cast<uint32_t>(from), begun});
    return true;
  };
  for (bool again = true; again;) {
    again = false;
    work.assign(1, {q, 0, -1, 0, 0});
    between->clear();
    checked = ByteSet();
    spaced = false;
    for (size_t i = 0; i < work.size() && !again; ++i) {
      const At at = work[i];
      const State* row = acceptor_->Row(at.state);
      const Utf8Phase& p = kUtf8Phases[at.phase];
      State last = DelayedAcceptor::kDead;
      uint8_t last_phase = 0;
      uint32_t last_begun = 0;
      if (at.phase == 0) {
        // A state that ends the loop for most characters: what ends it is rather the byte that leads there.
        if (at.via >= 0 && (first - acceptor_->Live(at.state)).Count() > kMostExcluded) {
          if (!drop_way(at)) return false;
          again = true;
          break;
        }
        between->push_back(at.state);
      }
      for (int b = 0; b < 256; ++b) {
        const uint8_t byte = static_cast<uint8_t>(b);
        const bool inside = at.phase ? b >= p.low && b <= p.high : first.Has(byte);
        if (!inside) {
          if (row[b] == (at.phase ? State{DelayedAcceptor::kDead} : reference[b])) continue;
          if (at.phase || !rare(byte)) return false;
          checked.Add(byte);
          continue;
        }
        const uint8_t phase = at.phase ? p.next : Utf8LeadPhase(byte);
        const uint32_t read = at.phase && !at.begun ? 0 : at.begun << 8 | byte;
        const uint32_t begun = phase && read && std::binary_search(spaces.begun.begin(), spaces.begun.end(), read) ? read : 0;
        if (row[b] && row[b] == last && phase == last_phase && begun == last_begun) continue;
        if (!row[b] && at.begun && !phase && std::binary_search(spaces.whole.begin(), spaces.whole.end(), read)) {
          spaced = true;
          continue;
        }
        if (!row[b]) {
          // Without this byte, from the start; where too many tokens have it, without one that leads here.
          if (at.phase || !(drop(byte) || drop_way(at))) return false;
          again = true;
          break;
        }
        if (!push(row[b], phase, b, begun, i)) return false;
        last = row[b];
        last_phase = phase;
        last_begun = begun;
      }
    }
  }
  loop->kind = Loop::kSemantic;
  loop->shape.high = kUnboundedLoop;
  loop->shape.all_but_spaces = spaced;
  loop->checked = checked;
  loop->excluded = c.first - first;
  if (loop->excluded.Any()) {
    bool indexed = true;  // every way out needs its index
    (acceptor_->Live(q) - first).ForEach([&](uint8_t b) {
      indexed = indexed && (factoring_.Containing(b) || !factoring_.TokensWithByte(b));
    });
    if (!indexed) return false;
    loop->outer = static_cast<int8_t>(class_id);
  } else {
    loop->inner = static_cast<int8_t>(class_id);
  }
  return true;
}

// A looping state (with `counted`, one that says so itself) to which most ASCII characters lead q; kDead when there is
// none. Where they lead elsewhere, q's tokens are compared with the model's along the trie, so a model never costs much
// more than it saves.
MaskBuilder::State MaskBuilder::SharedState(State q, bool counted) {
  constexpr uint32_t kManyBytes = 40;
  if ((acceptor_->Live(q) & ByteSet::Range(0, 127)).Count() < static_cast<int>(kManyBytes)) return DelayedAcceptor::kDead;
  const State* row = acceptor_->Row(q);
  std::vector<std::pair<State, uint32_t>> mass;  // bytes by target
  for (int b = 0; b < 128; ++b) {
    if (!row[b]) continue;
    const auto known = std::find_if(mass.begin(), mass.end(), [&](const auto& m) { return m.first == row[b]; });
    if (known != mass.end())
      ++known->second;
    else if (mass.size() < 64)
      mass.emplace_back(row[b], 1);
  }
  if (mass.empty()) return DelayedAcceptor::kDead;
  const auto best = std::max_element(mass.begin(), mass.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (best->second < kManyBytes || best->first == q) return DelayedAcceptor::kDead;
  const State model = Canonical(best->first);
  Loop loop;
  const bool loops = counted ? FindCounted(model, &loop) : LoopOf(model).kind != Loop::kNone;
  return loops ? best->first : State{DelayedAcceptor::kDead};
}

// Otherwise comparing the two along the trie takes as long as walking it.
bool MaskBuilder::AgreeBeyondAscii(State a, State b) {
  const State *x = acceptor_->Row(a), *y = acceptor_->Row(b);
  return std::equal(x + 0x80, x + 0x100, y + 0x80);
}

// ---------------------------------------------------------------------------------------------- building rows

// A state with an upper bound on its characters: the tokens that both operands allow, except that long ones are run.
bool MaskBuilder::BuildBounded(State q, uint32_t* row, int depth) {
  constexpr size_t kMostLong = 4000;
  State unbounded, counter;
  uint32_t slack;
  if (!acceptor_->Bounded(q, &unbounded, &counter, &slack)) return false;
  const auto [longer, end] = vocabulary_->LongerThan(slack);
  if (static_cast<size_t>(end - longer) > kMostLong) return false;
  const uint32_t words = factoring_.Words();
  BuildAny(Canonical(unbounded), row, depth + 1);
  std::vector<uint32_t> counted(words);
  BuildAny(Canonical(counter), counted.data(), depth + 1);
  for (uint32_t i = 0; i < words; ++i) row[i] &= counted[i];
  if (longer != end) acceptor_->Bounded(q, &unbounded, &counter, &slack);  // the operands may have asked for others
  for (const uint32_t* id = longer; id != end; ++id) {
    const uint32_t bit = 1u << (*id & 31);
    if (!(row[*id >> 5] & bit)) continue;
    const std::string_view token = vocabulary_->Token(*id);
    if (!acceptor_->BoundedAllows(q, token) && !acceptor_->Run(q, token)) row[*id >> 5] &= ~bit;
  }
  return true;
}

// A state like one without bounds, but for the few longest tokens.
bool MaskBuilder::BuildUnbounded(State q, uint32_t* row) {
  constexpr uint32_t kLengths[] = {24, 32, 48, 64};
  constexpr ptrdiff_t kFewLong = 500;
  for (const uint32_t length : kLengths) {
    const auto [longer, end] = vocabulary_->LongerThan(length);
    if (end - longer > kFewLong) continue;
    const State model = acceptor_->Unbounded(q, length);
    if (model == q) return false;
    BuildModel(model, row, 0);
    base_ = nullptr;
    for (const uint32_t* id = longer; id != end; ++id)
      if (!acceptor_->Run(q, vocabulary_->Token(*id))) row[*id >> 5] &= ~(1u << (*id & 31));
    return true;
  }
  return false;
}

void MaskBuilder::BuildModel(State model, uint32_t* row, int depth) {
  const uint32_t words = factoring_.Words();
  const bool top = row == building_;
  for (const Model& m : models_) {
    if (m.state != model) continue;
    std::memcpy(row, m.row.data(), size_t{words} * sizeof(uint32_t));
    if (top) base_ = m.base;
    run_spaced_ = run_spaced_ || m.run_spaced;
    return;
  }
  const bool run_spaced = run_spaced_;
  run_spaced_ = false;
  BuildAny(Canonical(model), row, depth + 1);
  if (top) {
    Model& m = models_[next_model_++ % models_.size()];
    m.state = model;
    m.row.assign(row, row + words);
    m.base = base_;
    m.run_spaced = run_spaced_;
  }
  run_spaced_ = run_spaced_ || run_spaced;
}

void MaskBuilder::BuildShared(State q, State model, uint32_t* row, int depth) {
  BuildModel(model, row, depth);
  Correct(0, q, model, row);
}

// Below a node that is entered with q, the row holds what the model allows; afterwards it holds what q allows. Only
// nodes to which the two lead in different states are visited.
void MaskBuilder::Correct(uint32_t node, State q, State model, uint32_t* row) {
  struct Both {
    uint32_t node;
    State mine, other;  // different and alive
  };
  std::vector<Both> open{{node, q, model}};
  const size_t base = stack_.size();
  const auto clear = [&](uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i) row[trie_.order[i] >> 5] &= ~(1u << (trie_.order[i] & 31));
  };
  while (!open.empty()) {
    const Both at = open.back();
    open.pop_back();
    const State *mine = acceptor_->Row(at.mine), *other = acceptor_->Row(at.other);
    const auto visit = [&](uint32_t child, uint8_t b) {
      if (mine[b] == other[b]) return;
      if (!mine[b]) return clear(trie_.TokensBegin(child), trie_.TokensBegin(trie_.nodes[child].end));
      if (!other[b]) return Enter(child, mine[b], row);
      if (trie_.nodes[child].end > child + 1) open.push_back({child, mine[b], other[b]});
    };
    if (!trie_.nodes[at.node].wide) {
      trie_.ForEachChild(at.node, [&](uint32_t child) { visit(child, trie_.nodes[child].byte); });
      continue;
    }
    ByteSet different;
    for (int b = 0; b < 256; ++b)
      if (mine[b] != other[b]) different.Add(static_cast<uint8_t>(b));
    trie_.ForEachLiveChild(at.node, different, visit);
  }
  Drain(base, row);
}

// The tokens below a node that was entered with q, which reads texts: those of its model, but for the texts.
void MaskBuilder::BuildTexts(uint32_t node, State q, uint32_t* row) {
  if (TraitsOf(q).parts) {
    for (State a : acceptor_->Alternatives(q, kMaxAlternatives)) AddPart(node, a, row);
    return;
  }
  State model;
  TextNode place;
  acceptor_->Texts(q, &model, &place);
  if (model) {
    const size_t base = stack_.size();
    stack_.push_back({node, model});
    Drain(base, row);
  }
  WalkTexts(node, place, model, row);
}

// Goes along the texts as far as there are tokens; with `clears`, the row holds what the model allows below the node.
void MaskBuilder::WalkTexts(uint32_t root, const TextNode& place, bool clears, uint32_t* row) {
  struct Along {
    uint32_t node;
    TextNode place;
  };
  std::vector<Along> open{{root, place}};
  const size_t base = stack_.size();
  while (!open.empty()) {
    const Along at = open.back();
    open.pop_back();
    const Trie::Node& top = trie_.nodes[at.node];
    ByteSet first;
    if (top.wide)
      first = trie_.wides[top.wide - 1].bytes;
    else
      trie_.ForEachChild(at.node, [&](uint32_t child) { first.Add(trie_.nodes[child].byte); });
    if (!first.Any()) continue;
    acceptor_->ForEachText(at.place, first, [&](std::string_view text, const TextNode* child, State after) {
      uint32_t node = at.node;
      for (size_t i = 0; i < text.size(); ++i) {
        if (i) SetTokens(trie_, node, row);
        node = trie_.Child(node, static_cast<uint8_t>(text[i]));
        if (node == kNoIndex) return;
      }
      if (child) {
        SetTokens(trie_, node, row);
        open.push_back({node, *child});
        return;
      }
      if (clears) {
        const uint32_t end = trie_.TokensBegin(trie_.nodes[node].end);
        for (uint32_t i = trie_.TokensBegin(node); i < end; ++i) row[trie_.order[i] >> 5] &= ~(1u << (trie_.order[i] & 31));
      }
      if (after) Enter(node, after, row);
    });
  }
  Drain(base, row);
}

void MaskBuilder::AddPart(uint32_t node, State q, uint32_t* row) {
  std::vector<uint32_t> part(factoring_.Words());
  const size_t base = stack_.size();
  stack_.push_back({node, q});
  Drain(base, part.data());
  OrRow(part.data(), factoring_.Words(), row);
}

template <class M, class F>
void MaskBuilder::ForEachExit(State q, const Loop& loop, const ByteSet& loop_first, M most, F visit) {
  const LoopShape& shape = loop.shape;
  const uint32_t longest = vocabulary_->MaxTokenBytes();
  if (shape.low == 0 && shape.high >= longest) {  // the count makes no difference
    const State* row = acceptor_->Row(q);
    (acceptor_->Live(q) - loop_first).ForEach([&](uint8_t b) { visit(b, row[b], 0u, kUnboundedLoop); });
    return;
  }
  ((shape.rest_first | shape.body_first) - loop_first).ForEach([&](uint8_t b) {
    const int64_t asked = most(b);
    if (asked < 0) return;
    const uint32_t high = std::min(shape.high, static_cast<uint32_t>(asked));
    if (!shape.body_first.Has(b)) {  // only what follows the loop begins with b
      if (shape.low > high) return;
      const State next = acceptor_->Next(acceptor_->AfterLoop(q, shape.low), b);
      if (next) visit(b, next, shape.low, high);
      return;
    }
    for (uint32_t l = 0; l <= high; ++l) {
      const State next = acceptor_->Next(Canonical(acceptor_->AfterLoop(q, l)), b);
      if (next) visit(b, next, l, l);
    }
  });
}

void MaskBuilder::BuildLoop(State q, const Loop& loop, uint32_t* row) {
  run_spaced_ = run_spaced_ || loop.shape.all_but_spaces;
  const int class_id = loop.outer >= 0 ? loop.outer : loop.inner;
  const Factoring::Base base = factoring_.InsideAtMost(class_id, loop.shape.high);
  std::memcpy(row, base.row, size_t{factoring_.Words()} * sizeof(uint32_t));
  if (row == building_ && base.more_end - base.more < kFewMore) base_ = base.row;
  for (const uint32_t* id = base.more; id != base.more_end; ++id) Set(*id, row);
  const SuffixTrie* suffixes = factoring_.Suffixes(class_id);
  if (loop.outer >= 0) {
    BuildExcluding(q, loop, row);
  } else if (!suffixes) {
    ApplyFactor(*factoring_.At(0, class_id), q, loop, row);
  } else {
    const Trie& trie = suffixes->trie;
    const auto most = [&](uint8_t b) {
      return trie.Child(0, b) == kNoIndex ? int64_t{-1} : int64_t{suffixes->max_chars[b]};
    };
    const ByteSet& first = CharacterClasses()[static_cast<size_t>(class_id)].first;
    ForEachExit(q, loop, first, most, [&](uint8_t b, State next, uint32_t low, uint32_t high) {
      const uint32_t child = trie.Child(0, b);
      if (child != kNoIndex) WalkSuffixes(*suffixes, child, next, low, high, [](uint32_t) { return true; }, row);
    });
  }
  if (loop.checked.Any()) RunTokensWith(loop.checked, q, row);
}

// For a loop over a class without some ASCII bytes: no token with such a byte stays inside, and the tokens that leave
// by a byte are found by that byte's index.
void MaskBuilder::BuildExcluding(State q, const Loop& loop, uint32_t* row) {
  const uint32_t words = factoring_.Words();
  loop.excluded.ForEach([&](uint8_t b) {
    const ByteIndex* index = factoring_.Containing(b);
    if (!index) return;  // in no token
    if (index->row == kNoIndex) {
      for (uint32_t id : index->ids) row[id >> 5] &= ~(1u << (id & 31));
      return;
    }
    const uint32_t* __restrict with = factoring_.Row(index->row);
    uint32_t* __restrict to = row;
    for (uint32_t i = 0; i < words; ++i) to[i] &= ~with[i];
  });
  const ByteSet first = CharacterClasses()[static_cast<size_t>(loop.outer)].first - loop.excluded;
  const uint64_t bad[2] = {~first.words[0], ~first.words[1]};  // may not come before the way out
  const auto most = [&](uint8_t b) {
    const ByteIndex* index = factoring_.Containing(b);
    return index ? int64_t{index->suffixes.max_chars[b]} : int64_t{-1};
  };
  ForEachExit(q, loop, first, most, [&](uint8_t b, State next, uint32_t low, uint32_t high) {
    const ByteIndex* index = factoring_.Containing(b);
    const uint32_t child = index ? index->suffixes.trie.Child(0, b) : kNoIndex;
    if (child == kNoIndex) return;
    const auto inside = [&](uint32_t i) { return !(index->before[i][0] & bad[0]) && !(index->before[i][1] & bad[1]); };
    WalkSuffixes(index->suffixes, child, next, low, high, inside, row);
  });
}

template <class Ids>
void MaskBuilder::RunTokens(const Ids& ids, State q, uint32_t* row) {
  for (uint32_t id : ids) {
    const uint32_t bit = 1u << (id & 31);
    row[id >> 5] = acceptor_->Run(q, vocabulary_->Token(id)) ? row[id >> 5] | bit : row[id >> 5] & ~bit;
  }
}

void MaskBuilder::RunTokensWith(const ByteSet& bytes, State q, uint32_t* row) {
  bytes.ForEach([&](uint8_t b) {
    const ByteIndex* index = factoring_.Containing(b);
    if (index) RunTokens(index->ids, q, row);
  });
}

// What a looping state allows below the factor's node. At the root the tokens inside the class are set already.
void MaskBuilder::ApplyFactor(const Factor& f, State q, const Loop& loop, uint32_t* row) {
  run_spaced_ = run_spaced_ || loop.shape.all_but_spaces;
  const uint32_t high = loop.shape.high;
  if (high >= f.max_chars && f.row != kNoIndex) {
    OrRow(factoring_.Row(f.row), factoring_.Words(), row);
  } else {
    const uint32_t end = f.offsets[std::min(high, f.max_chars) + 1];
    for (uint32_t i = 0; i < end; ++i) Set(f.inside[i], row);
  }
  const size_t base = stack_.size();
  const auto most = [&](uint8_t b) {
    int64_t chars = -1;
    if (f.exit_bytes.Has(b))
      for (const Factor::Exit& exit : f.ExitsBy(b)) chars = std::max<int64_t>(chars, exit.chars);
    return chars;
  };
  const ByteSet& first = CharacterClasses()[static_cast<size_t>(loop.inner)].first;
  ForEachExit(q, loop, first, most, [&](uint8_t b, State next, uint32_t low, uint32_t most) {
    if (!f.exit_bytes.Has(b)) return;
    for (const Factor::Exit& exit : f.ExitsBy(b)) {
      if (exit.chars >= low && exit.chars <= most) Enter(exit.node, next, row);
    }
  });
  Drain(base, row);
}

// ---------------------------------------------------------------------------------------------- walking

// The tokens at and below a node of the main trie that was entered with state q. Wide nodes wait on the stack.
void MaskBuilder::Enter(uint32_t node, State q, uint32_t* row) {
  SetTokens(trie_, node, row);
  if (trie_.nodes[node].end == node + 1) return;
  q = Near(q, trie_, node);
  if (trie_.nodes[node].wide || ReadsTexts(q))
    stack_.push_back({node, q});
  else
    Scan(trie_, node, q, row);
}

// A sweep in preorder over the subtree of a narrow node; wide nodes in it wait on the stack.
void MaskBuilder::Scan(const Trie& trie, uint32_t root, State q, uint32_t* row) {
  const Trie::Node* nodes = trie.nodes.data;
  const uint32_t base = nodes[root].depth, end = nodes[root].end;
  path_[0] = acceptor_->Row(q);
  for (uint32_t n = root + 1; n < end;) {
    const Trie::Node& node = nodes[n];
    const uint32_t depth = node.depth - base;
    const State next = path_[depth - 1][node.byte];
    if (!next) {
      n = node.end;
      continue;
    }
    SetTokens(trie, n, row);
    if (node.end > n + 1) {
      const bool plain = Plain(next);
      const State near = plain ? next : Near(next, trie, n);
      if (node.wide || (!plain && ReadsTexts(near))) {
        stack_.push_back({n, near});
        n = node.end;
        continue;
      }
      path_[depth] = acceptor_->Row(near);
    }
    ++n;
  }
}

// Works off the wide nodes: by a factor where the state loops, else child by child, live bytes only.
void MaskBuilder::Drain(size_t base, uint32_t* row) {
  while (stack_.size() > base) {
    const Visit at = stack_.back();
    stack_.pop_back();
    if (ReadsTexts(at.state)) {
      BuildTexts(at.node, at.state, row);
      continue;
    }
    const bool many = trie_.CountBelow(at.node) >= kSomeTokens;
    if (at.node && factoring_.At(at.node, 0) && (many || Looked(at.state))) {
      const State q = Canonical(at.state);
      const Plan plan = PlanOf(q, 0);
      const State loops = plan.how == Plan::kShared ? Canonical(plan.model) : q;
      const Loop& loop = LoopOf(loops);
      const auto inside = [&](const Loop& l) {
        return l.inner >= 0 && factoring_.At(at.node, l.inner)->inside.size() >= kSomeInside;
      };
      if (inside(loop) && (loop.outer >= 0 || !loop.checked.Any())) {
        ApplyFactor(*factoring_.At(at.node, loop.inner), loops, loop, row);
        if (plan.how == Plan::kShared) Correct(at.node, q, plan.model, row);
        continue;
      }
      if (many && plan.how == Plan::kUnion) {
        const std::vector<State> parts = acceptor_->Alternatives(q, kMaxAlternatives);
        const auto quick = [&](State a) { return ReadsTexts(a) || inside(LoopOf(Canonical(a))); };
        if (std::any_of(parts.begin(), parts.end(), quick)) {
          for (State a : parts) AddPart(at.node, a, row);
          continue;
        }
      }
    }
    if (!trie_.nodes[at.node].wide) {
      Scan(trie_, at.node, at.state, row);
      continue;
    }
    const State* next = acceptor_->Row(at.state);
    trie_.ForEachLiveChild(at.node, acceptor_->Live(at.state),
                           [&](uint32_t child, uint8_t byte) { Enter(child, next[byte], row); });
  }
}

template <class P>
void MaskBuilder::WalkSuffixes(const SuffixTrie& s, uint32_t node, State q, uint32_t low, uint32_t high, P passes,
                               uint32_t* row) {
  const Trie& trie = s.trie;
  const bool all = low == 0 && high >= s.max_chars[trie.nodes[node].byte];
  const auto set = [&](uint32_t n) {
    for (uint32_t i = trie.TokensBegin(n); i < trie.TokensEnd(n); ++i)
      if ((all || (s.chars[i] >= low && s.chars[i] <= high)) && passes(i)) Set(trie.order[i], row);
  };
  set(node);
  const size_t base = stack_.size();
  stack_.push_back({node, q});
  while (stack_.size() > base) {
    const Visit at = stack_.back();
    stack_.pop_back();
    const Trie::Node& top = trie.nodes[at.node];
    if (top.end == at.node + 1) continue;
    const State* next = acceptor_->Row(at.state);
    const auto go = [&](uint32_t child, State to) {
      set(child);
      if (trie.nodes[child].end > child + 1) stack_.push_back({child, Near(to, trie, child)});
    };
    if (top.wide) {
      trie.ForEachLiveChild(at.node, acceptor_->Live(at.state),
                            [&](uint32_t child, uint8_t byte) { go(child, next[byte]); });
      continue;
    }
    for (uint32_t child = at.node + 1; child < top.end; child = trie.nodes[child].end)
      if (const State to = next[trie.nodes[child].byte]) go(child, to);
  }
}

// ---------------------------------------------------------------------------------------------- incomplete vocabularies

// Breadth-first over token steps. A path of single-byte tokens is tried first: it exists nearly always.
bool MaskBuilder::CanFinish(State root) {
  const auto known = [this](State q) -> uint8_t& {
    if (q >= finish_.size()) finish_.resize(std::max<size_t>(q + 1, finish_.size() * 2), 0);
    return finish_[q];
  };
  if (known(root)) return known(root) == 2;
  struct Reached {
    State state;
    size_t parent;
  };
  for (const bool single : {true, false}) {
    std::vector<Reached> queue{{root, 0}};
    std::unordered_set<State> seen{root};
    for (size_t i = 0; i < queue.size(); ++i) {
      const State q = queue[i].state;
      if (acceptor_->IsFinal(q) || known(q) == 2) {
        for (size_t j = i;; j = queue[j].parent) {
          known(queue[j].state) = 2;
          if (j == 0) return true;
        }
      }
      if (known(q) == 1) continue;
      const auto reach = [&](State next) {
        if (seen.insert(next).second) queue.push_back({next, i});
      };
      if (single) {
        const State* row = acceptor_->Row(q);
        (acceptor_->Live(q) & factoring_.SingleBytes()).ForEach([&](uint8_t b) { reach(row[b]); });
        continue;
      }
      std::vector<const State*> path(trie_.max_depth + 2);  // path_ may be in use by who asks
      ForEachLiveToken(trie_, 0, acceptor_, q, &path, [&](uint32_t, State next) { reach(next); });
    }
    if (!single)
      for (const Reached& r : queue) known(r.state) = 1;
  }
  return false;
}

}  // namespace tokamata
