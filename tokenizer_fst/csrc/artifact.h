// Artifact: an OpenFst file with named binary sections behind the FST, which OpenFst does not read.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tokamata {

// The file is  FST | sections, each at a multiple of 8 | index | footer.  The index has name length, name, offset and
// length of each section; the footer has the index's place, the FST's length, version, file size, a checksum of all
// before it, and a magic word. All numbers are little-endian 64 bits.
struct Artifact {
  std::string_view fst;
  std::vector<std::pair<std::string_view, std::string_view>> sections;  // name, bytes; names are unique

  // Views into `file`. Throws VocabularyError: no footer, another version, truncated, damaged. O(size), no recursion,
  // no allocation that the file decides beyond its own size.
  static Artifact Parse(std::string_view file);
};

// What comes behind an FST of this content to make it an artifact. Throws VocabularyError on a name given twice.
std::string ArtifactTail(std::string_view fst,
                         const std::vector<std::pair<std::string_view, std::string_view>>& sections);

}  // namespace tokamata
