#include "tokenizer_fst/csrc/artifact.h"

#include <cstdint>
#include <cstring>
#include <set>

#include "automata/csrc/errors.h"
#include "tokenizer_fst/csrc/checksum.h"

namespace tokamata {
namespace {

constexpr uint64_t kVersion = 2;
constexpr char kMagic[9] = "TOKAMATA";

void PutNumber(std::string* out, uint64_t n) {
  for (int i = 0; i < 8; ++i) out->push_back(static_cast<char>(n >> (8 * i)));
}

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

void Artifact::RefuseChecksum() { Refuse("the checksum does not match, the file is damaged"); }

uint64_t Artifact::IndexOffset(std::string_view footer, uint64_t file_size) {
  if (footer.size() != kFooter || std::memcmp(footer.data() + kFooter - 8, kMagic, 8) != 0) {
    Refuse("the file does not end as Vocabulary.save writes it: truncated, or an .fst without a vocabulary");
  }
  const uint64_t index_offset = LittleEndian(&footer[0]), version = LittleEndian(&footer[24]);
  const uint64_t size = LittleEndian(&footer[32]);
  if (version != kVersion) {
    Refuse("version " + std::to_string(version) + ", this release reads version " + std::to_string(kVersion));
  }
  if (size != file_size) Refuse("the file's size does not match, it is truncated or damaged");
  if (index_offset > file_size - kFooter) Refuse("the index of sections is damaged");
  return index_offset;
}

Artifact Artifact::Parse(std::string_view tail, uint64_t file_size) {
  if (tail.size() < kFooter) Refuse("the index of sections is damaged");
  const std::string_view footer = tail.substr(tail.size() - kFooter);
  const uint64_t index_offset = IndexOffset(footer, file_size), count = LittleEndian(&footer[8]);
  Artifact artifact{LittleEndian(&footer[16]), LittleEndian(&footer[40]), {}};
  std::string_view index = tail.substr(0, tail.size() - kFooter);
  if (index.size() != file_size - kFooter - index_offset || artifact.fst_length > index_offset) {
    Refuse("the index of sections is damaged");
  }
  std::set<std::string_view> names;
  const auto take = [&index](uint64_t length) {
    if (length > index.size()) Refuse("the index of sections is damaged");
    const std::string_view taken = index.substr(0, length);
    index.remove_prefix(length);
    return taken;
  };
  uint64_t at = artifact.fst_length;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string_view name = take(LittleEndian(take(8).data()));
    const uint64_t offset = LittleEndian(take(8).data()), length = LittleEndian(take(8).data());
    if (offset < at || offset > index_offset || length > index_offset - offset || !names.insert(name).second) {
      Refuse("the index of sections is damaged");
    }
    artifact.sections.push_back({std::string(name), offset, length});
    at = offset + length;
  }
  return artifact;
}

}  // namespace tokamata
