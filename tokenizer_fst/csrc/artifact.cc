#include "tokenizer_fst/csrc/artifact.h"

#include <cstdint>
#include <cstring>
#include <set>

#include "automata/csrc/errors.h"

namespace tokamata {
namespace {

constexpr uint64_t kVersion = 1;
constexpr char kMagic[9] = "TOKAMATA";
constexpr size_t kFooter = 7 * 8;    // index offset, index count, FST length, version, file size, checksum, magic
constexpr size_t kSummed = 2 * 8;    // checksum and magic themselves are not summed

void PutNumber(std::string* out, uint64_t n) {
  for (int i = 0; i < 8; ++i) out->push_back(static_cast<char>(n >> (8 * i)));
}

uint64_t Number(const char* p) {
  uint64_t n = 0;
  for (int i = 7; i >= 0; --i) n = n << 8 | static_cast<uint8_t>(p[i]);
  return n;
}

// Each step is one-to-one in the sum and in the word, so no change of a single word goes unnoticed.
class Checksum {
 public:
  void Add(std::string_view bytes) {
    total_ += bytes.size();
    while (!bytes.empty() && held_) AddByte(&bytes);
    for (; bytes.size() >= 8; bytes.remove_prefix(8)) Mix(Number(bytes.data()));
    while (!bytes.empty()) AddByte(&bytes);
  }
  uint64_t Value() {
    Mix(word_);
    Mix(total_);
    return sum_;
  }

 private:
  void AddByte(std::string_view* bytes) {
    word_ |= static_cast<uint64_t>(static_cast<uint8_t>(bytes->front())) << (8 * held_);
    bytes->remove_prefix(1);
    if (++held_ == 8) {
      Mix(word_);
      word_ = held_ = 0;
    }
  }
  void Mix(uint64_t word) {
    sum_ ^= word;
    sum_ = (sum_ << 29 | sum_ >> 35) * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
  }
  uint64_t sum_ = 0x243f6a8885a308d3u, total_ = 0, word_ = 0, held_ = 0;
};

[[noreturn]] void Refuse(const std::string& what) {
  throw VocabularyError("artifact: " + what + "; save it again with Vocabulary.save");
}

}  // namespace

std::string ArtifactTail(std::string_view fst,
                         const std::vector<std::pair<std::string_view, std::string_view>>& sections) {
  std::string tail;
  std::string index;
  std::set<std::string_view> names;
  for (const auto& [name, bytes] : sections) {
    if (!names.insert(name).second) throw VocabularyError("artifact: section " + std::string(name) + " is given twice");
    while ((fst.size() + tail.size()) % 8) tail.push_back('\0');
    PutNumber(&index, name.size());
    index += name;
    PutNumber(&index, fst.size() + tail.size());
    PutNumber(&index, bytes.size());
    tail += bytes;
  }
  const uint64_t index_offset = fst.size() + tail.size();
  tail += index;
  PutNumber(&tail, index_offset);
  PutNumber(&tail, sections.size());
  PutNumber(&tail, fst.size());
  PutNumber(&tail, kVersion);
  PutNumber(&tail, fst.size() + tail.size() + 3 * 8);
  Checksum sum;
  sum.Add(fst);
  sum.Add(tail);
  PutNumber(&tail, sum.Value());
  tail.append(kMagic, 8);
  return tail;
}

Artifact Artifact::Parse(std::string_view file) {
  if (file.size() < kFooter || std::memcmp(file.data() + file.size() - 8, kMagic, 8) != 0) {
    Refuse("the file does not end as Vocabulary.save writes it: truncated, or an .fst without a vocabulary");
  }
  const char* footer = file.data() + file.size() - kFooter;
  const uint64_t index_offset = Number(footer), count = Number(footer + 8), fst_length = Number(footer + 16);
  const uint64_t version = Number(footer + 24), size = Number(footer + 32), checksum = Number(footer + 40);
  if (version != kVersion) Refuse("version " + std::to_string(version) + ", this release reads version 1");
  Checksum sum;
  sum.Add(file.substr(0, file.size() - kSummed));
  const uint64_t index_end = file.size() - kFooter;
  if (size != file.size() || sum.Value() != checksum || index_offset > index_end || fst_length > index_offset) {
    Refuse("the checksum does not match, the file is damaged");
  }
  Artifact artifact;
  artifact.fst = file.substr(0, fst_length);
  std::set<std::string_view> names;
  uint64_t at = index_offset;
  const auto take = [&](uint64_t length) {
    if (length > index_end - at) Refuse("the index of sections is damaged");
    at += length;
    return file.data() + at - length;
  };
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t name_length = Number(take(8));
    const std::string_view name(take(name_length), name_length);
    const uint64_t offset = Number(take(8)), length = Number(take(8));
    if (offset < fst_length || offset > index_offset || length > index_offset - offset || !names.insert(name).second) {
      Refuse("the index of sections is damaged");
    }
    artifact.sections.emplace_back(name, file.substr(offset, length));
  }
  return artifact;
}

}  // namespace tokamata
