// Artifact: an OpenFst file with named binary sections behind the FST, which OpenFst does not read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tokamata {

// The file is  FST | sections, each at a multiple of 8 | index | footer.  The index has name length, name, offset and
// length of each section; the footer has the index's place, the FST's length, version, file size, a checksum of all
// before it, and a magic word. All numbers are little-endian 64 bits. Read from the end: the footer, the index, then
// what is wanted, in any pieces.
struct Artifact {
  struct Section {
    std::string name;  // names are unique
    uint64_t offset, length;
  };
  static constexpr size_t kFooter = 7 * 8;
  static constexpr size_t kUnsummed = 2 * 8;  // checksum and magic themselves

  uint64_t fst_length;
  uint64_t checksum;
  std::vector<Section> sections;  // in order of the file, not overlapping

  // Where the index begins, from the file's last kFooter bytes (all of it, where it is shorter). Throws
  // VocabularyError: no footer, another version, another size.
  static uint64_t IndexOffset(std::string_view footer, uint64_t file_size);
  // From what the file has behind IndexOffset. Throws VocabularyError on a damaged index. The caller compares the
  // checksum.
  static Artifact Parse(std::string_view index_and_footer, uint64_t file_size);
  [[noreturn]] static void RefuseChecksum();
};

// What comes behind an FST of this content to make it an artifact. Throws VocabularyError on a name given twice.
std::string ArtifactTail(std::string_view fst,
                         const std::vector<std::pair<std::string_view, std::string_view>>& sections);

}  // namespace tokamata
