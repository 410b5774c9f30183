// The tokens that may repeat what must not occur twice: rows are made of states that forget, and these tokens are run.
#include "automata/csrc/line_keys.h"
#include "decode/csrc/mask.h"
#include "decode/csrc/next_values.h"
#include "decode/csrc/rows.h"

namespace tokamata {

bool MaskBuilder::RunWholeKeys(State q, uint32_t* row) {
  if (!may_remember_ || !(remembers_ = remembers_ || acceptor_->Remembers())) return false;
  const bool few = acceptor_->MayRunOut();  // then what forgets takes some key for the one that was written
  bool any = false;
  const uint32_t ahead = !key_lines_ || asked_ ? kKeyBehindBlanks | kKeysOfJson : KeysAheadOf(*key_lines_, q);
  asked_ = false;
  const auto allows = [&](uint32_t id) {
    const State next = acceptor_->Run(q, vocabulary_->Token(id));
    return next && (complete_ || CanFinish(next));
  };
  const auto run = [&](const std::vector<uint32_t>& ids, std::vector<uint32_t>* begins) {
    if (few && complete_ && begins->size() != ids.size())
      for (uint32_t id : ids) begins->push_back(UpToComma(vocabulary_->Token(id)));
    for (size_t i = 0; i < ids.size(); ++i) {
      const uint32_t id = ids[i];
      const bool was = HasToken(row, id);
      if (!was && !few) continue;  // what forgets allows more
      const uint32_t begin = few && complete_ ? (*begins)[i] : kNoIndex;
      const bool dead = begin != kNoIndex && !HasToken(row, begin);
      if ((!dead && allows(id)) == was) continue;
      FlipToken(id, row);
      any = true;
    }
  };
  if (ahead & kKeysOfJson) run(vocabulary_->WithWholeKeys(), &begins_of_whole_);
  if (key_lines_) run(vocabulary_->WithNextLines(), &begins_of_next_);
  if (key_lines_ && ahead & kKeyBehindBlanks) run(vocabulary_->WithKeysInLines(), &begins_of_lines_);
  if (few && ahead & kKeysOfJson) run(vocabulary_->WithEndsOfKeys(), &begins_of_ends_);
  if (!acceptor_->RemembersValues() || !(ahead & kKeysOfJson)) return any;
  return ClearNextValues(*vocabulary_, acceptor_, q, vocabulary_->Size(), allows, row) || any;
}

// What may repeat a key was decided for another state: it is to be run again.
bool MaskBuilder::AskAgain(State q, uint32_t* row) {
  if (!key_lines_ || !acceptor_->Remembers()) return false;  // nothing will be run
  if (!KeysAheadOf(*key_lines_, q) && vocabulary_->WithNextLines().empty()) return false;
  const auto ask = [row](const std::vector<uint32_t>& ids) {
    for (const uint32_t id : ids) SetToken(id, row);
  };
  ask(vocabulary_->WithWholeKeys());
  ask(vocabulary_->WithKeysInLines());
  ask(vocabulary_->WithNextLines());
  return asked_ = true;
}

// The token that another one begins with, up to its first comma or line break; kNoIndex where there is none. It writes
// no second key, so rows are right about it, and where it may not come neither may the longer one.
uint32_t MaskBuilder::UpToComma(std::string_view token) const {
  uint32_t node = 0;
  for (const char c : token.substr(0, token.find_first_of(",\n") + 1))
    if ((node = trie_.Child(node, static_cast<uint8_t>(c))) == kNoIndex) return kNoIndex;
  return trie_.TokensBegin(node) < trie_.TokensEnd(node) ? trie_.order[trie_.TokensBegin(node)] : kNoIndex;
}

}  // namespace tokamata
