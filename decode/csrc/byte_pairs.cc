#include "decode/csrc/byte_pairs.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "automata/csrc/errors.h"
#include "decode/csrc/rows.h"

namespace tokamata {

BytePairs::BytePairs(uint32_t size, std::vector<Merge> merges, const std::vector<uint32_t>& units, bool whole_pieces)
    : size_(size), whole_pieces_(whole_pieces), written_(size), left_(size, -1), right_(size, -1), rank_(size, -1),
      made_by_(size, -1) {
  const auto check = [&](uint32_t token) {
    if (token >= size)
      throw VocabularyError("canonical: token " + std::to_string(token) +
                            " of the merges is out of range; the vocabulary has " + std::to_string(size) + " tokens");
  };
  std::vector<uint32_t> length(size, 0);
  for (const uint32_t unit : units) {
    check(unit);
    written_[unit] = 1;
    length[unit] = 1;
  }
  merges_.Reserve(merges.size());
  for (const Merge& m : merges) {
    check(m.left);
    check(m.right);
    check(m.made);
    merges_[PairKey(m.left, m.right)] = {m.rank, m.made};
  }
  // Parts before what they are parts of: in the order of their lengths in units.
  std::vector<const Merge*> waiting;
  for (const Merge& m : merges) waiting.push_back(&m);
  for (size_t before = waiting.size() + 1; waiting.size() < before;) {
    before = waiting.size();
    size_t kept = 0;
    for (const Merge* m : waiting) {
      if (length[m->left] && length[m->right]) {
        if (!length[m->made]) length[m->made] = length[m->left] + length[m->right];
      } else {
        waiting[kept++] = m;
      }
    }
    waiting.resize(kept);
  }
  std::sort(merges.begin(), merges.end(),
            [&](const Merge& a, const Merge& b) { return length[a.made] < length[b.made]; });
  std::vector<Part> lefts, rights;
  for (const Merge& m : merges) {
    if (!written_[m.left] || !written_[m.right] || written_[m.made]) continue;
    const Known& known = *Find(m.left, m.right);
    if (known.made != m.made) continue;
    RightSpine(m.left, &lefts);
    LeftSpine(m.right, &rights);
    if (Conflict(lefts, rights, true)) continue;
    written_[m.made] = 1;
    left_[m.made] = static_cast<int32_t>(m.left);
    right_[m.made] = static_cast<int32_t>(m.right);
    rank_[m.made] = known.rank;
    made_by_[m.made] = std::max({known.rank, made_by_[m.left], made_by_[m.right]});
  }
  // Merges of parts that are never written never happen.
  by_left_at_.assign(size + 1, 0);
  with_right_.assign(size, 0);
  merges.erase(std::remove_if(merges.begin(), merges.end(),
                              [this](const Merge& m) { return !written_[m.left] || !written_[m.right]; }),
               merges.end());
  for (const Merge& m : merges) {
    ++by_left_at_[m.left + 1];
    ++with_right_[m.right];
  }
  std::partial_sum(by_left_at_.begin(), by_left_at_.end(), by_left_at_.begin());
  by_left_.resize(by_left_at_[size]);
  std::vector<uint32_t> fill(by_left_at_.begin(), by_left_at_.end());
  for (const Merge& m : merges) by_left_[fill[m.left]++] = {m.right, Find(m.left, m.right)->rank};
  for (uint32_t a = 0; a < size; ++a)
    std::sort(by_left_.begin() + by_left_at_[a], by_left_.begin() + by_left_at_[a + 1],
              [](const Follower& x, const Follower& y) { return x.rank < y.rank; });
  MakeForest();
}

std::vector<Merge> BytePairs::RankedMerges(const std::vector<std::string_view>& tokens) {
  std::unordered_map<std::string_view, uint32_t> id_of;
  id_of.reserve(tokens.size());
  for (uint32_t t = 0; t < tokens.size(); ++t)
    if (!tokens[t].empty()) id_of.emplace(tokens[t], t);
  std::vector<Merge> merges;
  for (uint32_t t = 0; t < tokens.size(); ++t) {
    const std::string_view text = tokens[t];
    if (text.size() < 2 || id_of.at(text) != t) continue;
    for (size_t cut = 1; cut < text.size(); ++cut) {
      const auto a = id_of.find(text.substr(0, cut));
      if (a == id_of.end()) continue;
      const auto b = id_of.find(text.substr(cut));
      if (b != id_of.end()) merges.push_back({a->second, b->second, t, static_cast<int32_t>(t)});
    }
  }
  return merges;
}

// A part is at the end of what has been made of a token from the merge that makes it to the one that hides it. Merges
// of a token happen in the order of the highest rank so far. So what happens in between is known by two numbers: the
// rank reached when it is hidden, and the highest rank on the way there, which is lower where making it took a higher
// one.
BytePairs::Part BytePairs::RightPart(uint32_t whole) const {
  const uint32_t part = static_cast<uint32_t>(right_[whole]);
  const int32_t hidden = made_by_[whole];
  return {part, hidden > made_by_[part] ? hidden : rank_[whole], hidden, made_by_[part]};
}
BytePairs::Part BytePairs::LeftPart(uint32_t whole) const {
  const uint32_t part = static_cast<uint32_t>(left_[whole]), other = static_cast<uint32_t>(right_[whole]);
  const int32_t hidden = made_by_[whole];
  // Of equal ranks the left one comes first, so the other part's are on the way.
  const bool rises = hidden > made_by_[part] || made_by_[other] == made_by_[part];
  return {part, rises ? hidden : rank_[whole], hidden, made_by_[part]};
}

void BytePairs::RightSpine(uint32_t token, std::vector<Part>* spine) const {
  spine->assign(1, {token, kNever, kNever, made_by_[token]});
  for (uint32_t t = token; right_[t] >= 0; t = static_cast<uint32_t>(right_[t])) spine->push_back(RightPart(t));
}
void BytePairs::LeftSpine(uint32_t token, std::vector<Part>* spine) const {
  spine->assign(1, {token, kNever, kNever, made_by_[token]});
  for (uint32_t t = token; left_[t] >= 0; t = static_cast<uint32_t>(left_[t])) spine->push_back(LeftPart(t));
}

// Whether a merge across the boundary happens: both parts are there at one time, and nothing that comes before it hides
// one of them. With but_whole the merge of the two tokens themselves does not count.
bool BytePairs::Conflict(const std::vector<Part>& lefts, const std::vector<Part>& rights, bool but_whole) const {
  for (const Part& a : lefts)
    for (const Part& b : rights) {
      if (but_whole && a.hidden == kNever && b.hidden == kNever) continue;
      if (b.made >= a.hidden || a.made > b.hidden) continue;
      const Known* merge = Find(a.token, b.token);
      if (merge && merge->rank < a.most && merge->rank <= b.most) return true;
    }
  return false;
}

bool BytePairs::Neighbours(uint32_t left, uint32_t right) const {
  if (!Written(left) || !Written(right)) return false;
  thread_local std::vector<Part> lefts, rights;
  RightSpine(left, &lefts);
  LeftSpine(right, &rights);
  return !Conflict(lefts, rights, false);
}

void BytePairs::FindRightEdge(uint32_t token, Edge* edge) const { RightSpine(token, &edge->parts_); }
void BytePairs::FindLeftEdge(uint32_t token, Edge* edge) const { LeftSpine(token, &edge->parts_); }
bool BytePairs::Fit(const Edge& left, const Edge& right) const { return !Conflict(left.parts_, right.parts_, false); }

size_t BytePairs::LeftMerges(uint32_t token) const {
  size_t merges = with_right_[token];
  for (uint32_t t = token; left_[t] >= 0;) {
    t = static_cast<uint32_t>(left_[t]);
    merges += with_right_[t];
  }
  return merges;
}

void BytePairs::MakeForest() {
  children_at_.assign(size_ + 1, 0);
  for (uint32_t t = 0; t < size_; ++t)
    if (left_[t] >= 0) ++children_at_[left_[t] + 1];
  std::partial_sum(children_at_.begin(), children_at_.end(), children_at_.begin());
  children_.resize(children_at_[size_]);
  std::vector<uint32_t> fill(children_at_.begin(), children_at_.end());
  for (uint32_t t = 0; t < size_; ++t)
    if (left_[t] >= 0) children_[fill[left_[t]]++] = t;
  for (uint32_t t = 0; t < size_; ++t)  // those that hide it late come first
    std::sort(children_.begin() + children_at_[t], children_.begin() + children_at_[t + 1],
              [&](uint32_t x, uint32_t y) { return made_by_[x] > made_by_[y]; });
  place_.assign(size_, 0);
  end_.assign(size_, 0);
  written_bits_.assign(Words(), 0);
  for (uint32_t token = 0; token < size_; ++token)
    if (written_[token]) SetToken(token, written_bits_.data());
  std::vector<std::pair<uint32_t, uint32_t>> work;  // a token and its next child
  for (uint32_t root = 0; root < size_; ++root) {
    if (!written_[root] || left_[root] >= 0) continue;
    work.emplace_back(root, children_at_[root]);
    place_[root] = static_cast<uint32_t>(at_place_.size());
    at_place_.push_back(root);
    while (!work.empty()) {
      const uint32_t token = work.back().first;
      if (work.back().second == children_at_[token + 1]) {
        end_[token] = static_cast<uint32_t>(at_place_.size());
        work.pop_back();
        continue;
      }
      const uint32_t child = children_[work.back().second++];
      place_[child] = static_cast<uint32_t>(at_place_.size());
      at_place_.push_back(child);
      work.emplace_back(child, children_at_[child]);
    }
  }
}

BytePairs::Bits BytePairs::After(uint32_t token) const {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto at = after_.find(token);
    if (at != after_.end()) return at->second;
  }
  auto bits = std::make_shared<std::vector<uint32_t>>(Words(), 0);
  if (Written(token)) {
    std::vector<Part> lefts;
    RightSpine(token, &lefts);
    std::vector<std::pair<uint32_t, uint32_t>> blocked;  // of places
    for (const Part& a : lefts)
      for (uint32_t i = by_left_at_[a.token]; i < by_left_at_[a.token + 1]; ++i) {
        const auto [b, rank] = by_left_[i];
        if (rank >= a.most) break;
        if (made_by_[b] >= a.hidden) continue;
        // b itself, and what is made of it late enough.
        uint32_t begin = place_[b], end = begin + 1;
        for (uint32_t c = children_at_[b]; c < children_at_[b + 1]; ++c) {
          const uint32_t child = children_[c];
          const Part part = LeftPart(child);
          if (part.hidden < made_by_[a.token]) break;
          if (part.hidden < rank) break;  // most <= hidden
          if (rank > part.most) continue;
          if (place_[child] != end) {
            blocked.emplace_back(begin, end);
            begin = place_[child];
          }
          end = end_[child];
        }
        blocked.emplace_back(begin, end);
      }
    std::sort(blocked.begin(), blocked.end());
    *bits = written_bits_;
    uint32_t from = 0;
    for (const auto& [begin, end] : blocked) {
      for (uint32_t p = std::max(from, begin); p < end; ++p) ClearToken(at_place_[p], bits->data());
      from = std::max(from, end);
    }
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if ((after_.size() + 1) * Words() * sizeof(uint32_t) > kCacheBytes) after_.clear();
  return after_.emplace(token, std::move(bits)).first->second;
}

std::vector<uint32_t> BytePairs::Encode(const std::vector<uint32_t>& units) const {
  std::vector<uint32_t> parts = units;
  for (;;) {
    size_t best = parts.size();
    const Known* merge = nullptr;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const Known* m = Find(parts[i], parts[i + 1]);
      if (m && (!merge || m->rank < merge->rank)) {
        merge = m;
        best = i;
      }
    }
    if (!merge) return parts;
    parts[best] = merge->made;
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

}  // namespace tokamata
