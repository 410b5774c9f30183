// CanonicalAutomaton: a constraint without the token sequences that the tokenizer would not write.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "automata/csrc/delayed_acceptor.h"
#include "automata/csrc/expression_acceptor.h"
#include "automata/csrc/flat_map.h"
#include "automata/csrc/language.h"
#include "decode/csrc/canonical_texts.h"
#include "decode/csrc/canonical_tokens.h"
#include "decode/csrc/pretokenizer.h"

namespace tokamata {

struct CanonicalOptions {
  size_t cache_bytes;  // finished sets of tokens
  size_t max_nodes;    // places that searches have looked at
  uint32_t few_tokens = 4096;  // so many tokens are walked rather than taken from tables of loops
};

// A text is cut into pieces, and each piece is written by merging pairs. So between two tokens the text was cut, or
// else they have to be neighbours; a position keeps the guesses about the last cuts that may still come true. A text
// that goes on after a cut can be written whatever it is; so whether something can follow a cut is a question about
// texts alone, and only pieces that are not complete need a search among tokens. Safe to share between threads (under a
// lock).
//
// States that remember what is read have no end of successors: languages over and within theirs, which remember
// nothing, mostly give the same answer, and only the texts and tokens on which they differ are tried.
class CanonicalAutomaton {
 public:
  static constexpr uint32_t kNoToken = 0xffffffff;
  // One guess: what the pretokenizer has read, the last token of the current piece, or kNoToken where none has begun.
  struct Guess {
    Pretokenizer::State split;
    uint32_t last;
    uint32_t spelled;  // see CanonicalTokens::Spelled
    bool operator==(const Guess& o) const { return split == o.split && last == o.last && spelled == o.spelled; }
  };
  struct Position {
    DelayedAcceptor::State state = DelayedAcceptor::kDead;
    CanonicalTexts::State text = 0;  // where members have to be among texts
    std::vector<Guess> guesses;
    std::shared_ptr<ExpressionAcceptor> of;  // whose states they are
  };

  // The members that are among `texts` as well, where that is not null. Throws ConstraintError where none can be
  // written.
  CanonicalAutomaton(const Language& language, std::shared_ptr<CanonicalTexts> texts,
                     std::shared_ptr<const CanonicalTokens> tokens, const CanonicalOptions& options);

  const Vocabulary& Tokens() const { return *vocabulary_; }
  uint32_t Words() const { return vocabulary_->ModelWords(); }
  Position Start() const;
  bool IsFinal(const Position& position) const;
  // Words() words; EOS among them.
  void FillMask(const Position& position, uint32_t* out);
  // The position after a text token; its state is kDead where that is not allowed.
  Position Advance(const Position& position, uint32_t token);
  size_t NumStates() const;
  // How often all that was known was forgotten, since there was too much of it.
  size_t NumRenewals() const;

 private:
  using State = DelayedAcceptor::State;
  static constexpr uint32_t kNoPlace = 0xffffffff;
  // What the future of a token depends on, but for the token.
  struct Place {
    State state;
    Pretokenizer::State split;
    uint32_t spelled;
    uint32_t same;     // the place before with this state and split; kNoPlace: none
    int8_t ends = -1;  // whether the piece can end here; -1: not known
  };
  struct Move {
    uint32_t token, place;
  };

  bool Ends(const Position& position) const;
  template <class F>
  auto WithRoom(F f);
  void Renew();
  Position Here(const Position& position);
  State StateOf(const Position& position);
  Position After(const Position& position, uint32_t token);
  void Fill(const Position& position, uint32_t* out);
  uint32_t PlaceOf(State state, Pretokenizer::State split, uint32_t spelled);
  bool PieceEnds(uint32_t place);
  bool CanFollow(State state, Pretokenizer::State free);
  bool Reaches(State state, Pretokenizer::State free);
  // The states that answer for one that remembers.
  struct Twins {
    State over, within;
  };
  bool HasTwins(State q, Twins* twins);
  // A state, and one of the texts which members have to be among.
  struct Meet {
    State state;
    CanonicalTexts::State text;
    int8_t surely = -1, may_end = -1;  // -1: not known
  };
  static constexpr State kMeet = 1u << 31;
  State MeetOf(State state, CanonicalTexts::State text);
  State Beside(State state, State q);
  bool MeetsSurely(State q, CanonicalTexts::State text);
  bool MeetsSurely(State q);
  bool SurelyEnds(State q);
  bool MayEnd(State q);
  State StateIn(State q) const { return q & kMeet ? meets_[q & ~kMeet].state : q; }
  bool Final(State q) const;
  State Run(State q, std::string_view text);
  bool FollowsByTwins(State state, Pretokenizer::State free, const Twins& twins);
  bool CompletesByTwins(uint32_t place, uint32_t token, const Twins& twins);
  void FillByTwins(uint32_t place, const Twins& twins, uint32_t* bits);
  uint32_t PlaceAfter(uint32_t place, uint32_t token);
  [[noreturn]] void ThrowTried(State q) const;
  bool Completes(uint32_t place, uint32_t token);
  bool Search(uint32_t place, uint32_t token);
  template <class F>
  void ForEachStep(State q, const Pretokenizer::State* splits, F visit);
  using Enders = std::vector<BytePairs::Edge>;
  const Enders& EndersOf(uint32_t place);
  using Moves = std::shared_ptr<const std::vector<Move>>;
  Moves MovesFrom(uint32_t place);
  bool MayBeRead(uint32_t token, bool start) const;
  template <class F>
  void ForEachMove(uint32_t place, const Trie& trie, F visit);
  const uint32_t* Useful(uint32_t place, bool models = true);
  const uint32_t* FindUseful(uint32_t place, bool models);
  void FillUseful(uint32_t place, bool models, uint32_t* bits);
  bool FillParts(uint32_t place, bool models, uint32_t* bits);
  template <class F>
  bool FillFromModel(uint32_t place, uint32_t* bits, F consider);
  bool LoopOf(State q, CanonicalLoops::Characters* characters, uint32_t* high);
  bool AnyCharacterLoops(State q);
  CanonicalLoops::Ends EndsOf(const CanonicalLoops::Class& c, const CanonicalLoops::Characters& characters,
                              Pretokenizer::State split, CanonicalTexts::State text, bool start);
  bool FinishesCharacter(uint32_t token, Pretokenizer::State split, CanonicalTexts::State text, uint32_t spelled,
                         const CanonicalLoops::Characters& characters, int* tries);
  bool PieceSurelyEnds(Pretokenizer::State split, const CanonicalLoops::Characters& characters);
  template <class F>
  bool FillLoop(uint32_t place, uint32_t* bits, F consider);

  std::shared_ptr<ExpressionAcceptor> acceptor_;
  std::shared_ptr<CanonicalTexts> texts_;  // null: all
  std::shared_ptr<const CanonicalTokens> tokens_;
  const Vocabulary* vocabulary_;
  const BytePairs* pairs_;
  CanonicalOptions options_;
  double seconds_;
  size_t renewals_ = 0;
  bool may_remember_;
  uint32_t tried_ = 0;  // tokens, one behind the other, that are being tried
  mutable std::mutex mutex_;
  Pretokenizer pretokenizer_;
  Position start_;
  std::vector<Meet> meets_;
  FlatMap<uint64_t, State> meet_of_;
  std::vector<Place> places_;
  FlatMap<uint64_t, uint32_t> place_of_;
  FlatMap<uint64_t, bool> can_follow_, completes_;
  std::unordered_map<uint32_t, Moves> moves_;
  size_t num_moves_ = 0;
  std::unordered_map<uint32_t, Enders> enders_;
  BytePairs::Edge edge_;  // scratch of Search
  std::unordered_map<uint32_t, std::vector<uint32_t>> witnesses_;  // by token: some after which a piece could end
  std::unordered_map<uint32_t, std::unique_ptr<uint32_t[]>> useful_;
  std::vector<StateRow> rows_;
  std::vector<const CanonicalTexts::State*> text_rows_;
  std::vector<const Pretokenizer::State*> split_rows_;
};

}  // namespace tokamata
