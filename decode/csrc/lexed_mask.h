// LexedMask: the tokens that a grammar with a lexer allows.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "automata/csrc/id_table.h"
#include "constraints/csrc/lexed_grammar.h"
#include "tokenizer_fst/csrc/factoring.h"
#include "tokenizer_fst/csrc/vocabulary.h"

namespace tokamata {

// A token either stays inside the lexeme that is being read, which the lexer alone decides, or leaves it somewhere. For
// a lexer state at the root of the trie or at a node with many tokens below, the former are kept as a row, the places
// where tokens leave as groups by what was read and the byte that follows; groups below such nodes are shared by all
// states that come by. What happens past those places depends on the stacks, mostly on their tops: it is worked out for
// stacks cut off one state below the top and kept, what would need to know more is left over for stacks cut off further
// down, and so on; a mask is the union over these levels, of which all but the last few are found ready. Lexemes that
// end in other places and over other stacks lead to the same nodes with the same stacks: what is allowed below those is
// kept as well.
// Used under the lock of the acceptor that owns the grammar.
class LexedMask {
 public:
  LexedMask(LexedGrammar* grammar, const Vocabulary* vocabulary);
  ~LexedMask();

  // Adds the tokens that a state allows to a row. States for which the same number is returned, never 0, mostly allow
  // nearly the same.
  uint64_t Add(uint32_t state, uint32_t* row);
  // Where the caller may keep something about the mask that a state shares with others, at first null; it stays there
  // until the next Add. Null where it is not known yet with which, as before the first Add, or with none.
  const void** Shared(uint32_t state);

 private:
  using Set = ParserStates::Set;
  struct Tokens {  // as ids, or, where they are many, as a row
    std::vector<uint32_t> ids, row;
  };
  // A lexeme ends, of `terminal` (or of what Lexer::Accepted says), longer ones are pending, and `byte` comes next at
  // these nodes. Where nothing is pending but the lexeme may go on, it is at `on` then.
  struct Exit {
    uint32_t terminal;
    Lexer::State pending, on;
    uint8_t byte;
    uint32_t first, count;  // in Row::nodes
  };
  // A lexer state with what is pending beside it, kept by number.
  struct Lexing {
    Lexer::State lexer, pending;
  };
  struct Row {  // of a node that was entered so
    Tokens inside;
    std::vector<std::pair<Lexing, Tokens>> asked;  // inside, by where they end if not freely
    std::vector<Exit> exits;
    std::vector<uint32_t> nodes;
  };
  struct Blocked {  // needs deeper stacks
    static constexpr uint32_t kNode = 0xffffffff;
    uint32_t node;
    uint32_t lexing;  // of the row at the node, but with kNode
    uint32_t what;    // an exit of that row, its exits' number + i for asked[i], or kNode for the whole node
    uint32_t count;   // of exits from that one on
  };
  struct Level {
    Tokens tokens;
    std::vector<Blocked> blocked;
    const void* shared[2] = {nullptr, nullptr};  // with nothing blocked: see Shared, by whether the text may end
  };
  enum class Answer { kNo, kYes, kUnknown };
  // A node that was entered so.
  struct Place {
    uint32_t node;
    Position at;
    friend bool operator==(const Place& a, const Place& b) { return a.node == b.node && a.at == b.at; }
  };
  // What was found there: ids, or kRow for a row, then what is blocked.
  struct Found {
    static constexpr uint32_t kRow = 0xffffffff;
    Place place;
    const uint32_t* data = nullptr;
    uint32_t ids = 0, blocked = 0;
    const Tokens* inside = nullptr;  // to be added, where they are many
  };

  // A lexer state, and another one to which characters of a class lead from both. Not those of ASCII that are `excluded`:
  // they lead elsewhere from `loop`, or may end the lexeme there; nor, as first ones, those `apart`: the same of `from`.
  struct Around {
    static constexpr int8_t kNone = -1;
    Lexer::State from = Lexer::kDead, loop = Lexer::kDead;
    int8_t class_id = kNone;
    ByteSet excluded, apart;
  };

  // Everything below is about tokens strictly below a node.
  uint32_t Number(Lexer::State lexer, Lexer::State pending);
  bool Loops(Lexer::State state, const CharacterClass& c);
  // Whether all characters beyond ASCII lead from one state to another, and end no lexeme on the way.
  bool LeadsBeyondAscii(Lexer::State from, Lexer::State to);
  // The bytes with which a lexeme may be over at a state and another one begin.
  ByteSet EndingBytes(Lexer::State state);
  const Around& AroundOf(Lexer::State state);
  Around FindAround(Lexer::State state);
  // That of an entered node, if the tables know the tokens of its class there; else, or where walking is quicker, none.
  std::optional<Around> AroundAt(uint32_t node, const Lexing& entered);
  // The bytes that may come after a lexeme of what Lexer::Accepted says, and maybe more.
  const ByteSet& FollowOf(uint32_t accepted);
  int8_t LoopOf(Lexer::State state);
  const Factor* FactorAt(uint32_t node, Lexer::State state, Lexer::State pending);
  // A state from which the tokens below a node stay inside and leave as from `state`, without a counter: they have fewer
  // bytes than there are turns left.
  Lexer::State Near(uint32_t node, Lexer::State state, Lexer::State pending);
  // Whether all tokens below a node stay inside the lexeme, and in its state, which loops over a class.
  bool StaysInside(uint32_t node, Lexer::State state, Lexer::State pending) {
    const uint16_t classes = pending ? uint16_t{0} : factoring_.InsideBelow(node);
    if (!classes) return false;
    const int8_t loop = LoopOf(state);
    return loop >= 0 && classes >> loop & 1;
  }
  struct RowParts;
  struct LexemeAt;
  LexemeAt Enter(Lexer::State q, Lexer::State pending);
  const Row& RowAt(uint32_t node, uint32_t lexing);
  void WalkAround(uint32_t node, const Around& around, RowParts* parts);
  void WalkLexeme(uint32_t node, const Lexing& entered, RowParts* parts);
  void AddPosition(const Position& p, uint32_t* row);
  const Level& LevelOf(Set stacks, uint32_t lexing, const Level* before);
  Answer Ask(const Position& p);
  void ApplyEnds(uint32_t node, uint32_t lexing, Set stacks, Level* level);
  void ApplyExits(const Row& r, uint32_t exit, uint32_t end, uint32_t node, uint32_t lexing, Set stacks, Level* level);
  struct Entry {  // what an exit leads to
    const Exit* exit;
    Position next;
    const Lexer::State* row;  // of its lexer state
  };
  bool AreAlike(Lexer::State lexer, Set a, Set b);
  std::vector<std::pair<uint32_t, uint32_t>> FirstPlaces(const Row& r, const std::vector<Entry>& entries);
  void ApplyAsked(const Row& r, uint32_t asked, uint32_t node, uint32_t lexing, Set stacks, Level* level);
  void Below(uint32_t node, const Position& p, Level* level);
  const Found& FoundAt(const Place& place);
  uint32_t* Room(size_t words);
  void Walk(uint32_t root, const Position& p, Level* level);
  // The positions after the bytes on the way to a node, asked for in order of nodes.
  class Path {
   public:
    void Start(const Position& start) {
      positions_.assign(1, start);
      at_.assign(1, {0, true, 0, 1});
    }
    const Position* To(uint32_t node, LexedMask* masks, size_t* count);

   private:
    struct At {
      uint32_t node;
      bool known;
      uint32_t first, end;  // in positions_, those of one node after another
    };
    std::vector<Position> positions_, moved_;
    std::vector<At> at_;
  };
  void Retry(const Blocked& b, Path* path, Level* level);
  void Write(const Tokens& tokens, uint32_t* row) const;
  void Merge(const Tokens& from, Tokens* to);
  void MergeRow(const uint32_t* row, Tokens* to);
  void Append(const uint32_t* ids, size_t count, Tokens* to);
  void AddAt(uint32_t node, Tokens* to) {
    Append(trie_.order.begin() + trie_.TokensBegin(node), trie_.TokensEnd(node) - trie_.TokensBegin(node), to);
  }

  LexedGrammar* grammar_;
  const Vocabulary* vocabulary_;
  const Factoring& factoring_;
  const Trie& trie_;
  const uint32_t words_;
  const size_t most_bytes_;
  size_t bytes_ = 0, found_bytes_ = 0;
  std::vector<Position> positions_;  // of the state that is asked about
  std::vector<Lexing> lexings_;
  std::vector<int8_t> loop_of_;  // by lexer state: the class over which it loops
  std::unordered_map<Lexer::State, Around> around_;
  std::unordered_map<uint32_t, ByteSet> follow_;  // of sets of terminals
  struct Counted {
    bool asked = false;
    Lexer::State star = Lexer::kDead;
    uint32_t high = 0;
  };
  std::vector<Counted> counted_;  // by lexer state: see Lexer::Counts
  std::unordered_map<uint64_t, uint32_t> lexing_ids_;
  std::unordered_map<uint64_t, std::unique_ptr<Row>> rows_;      // by node and lexing
  std::unordered_map<uint64_t, std::unique_ptr<Level>> levels_;  // by stacks and lexing
  std::deque<Found> found_;
  IdTable found_ids_;
  std::vector<std::unique_ptr<uint32_t[]>> blocks_;  // of what was found
  uint32_t* room_ = nullptr;                         // in the last one
  size_t room_left_ = 0;
  std::vector<uint32_t> parents_, entry_at_;  // by node, from when it is asked for; see FirstPlaces
  // To be used again.
  std::vector<std::unique_ptr<Level>> spare_levels_;
  std::vector<std::unique_ptr<RowParts>> spare_parts_;
  std::vector<std::vector<Positions::Ready>> walked_;
  std::vector<Position> moved_;
  Path path_;
};

}  // namespace tokamata
