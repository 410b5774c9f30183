// Files, whole and damaged: machines in binary and text form, vocabularies with their tables, sections of an artifact.
#include <memory>

#include "automata/csrc/binary.h"
#include "automata/csrc/connect.h"
#include "automata/csrc/text.h"
#include "decode/csrc/token_automaton.h"
#include "tests/native/generate.h"
#include "tokenizer_fst/csrc/artifact.h"

namespace tokamata {
namespace {

Fst RandomFst(Random* r) {
  Fst fst(r->OneIn(3) ? SemiringKind::kLog : SemiringKind::kTropical);
  const uint32_t states = r->Below(8);
  fst.AddStates(states);
  if (!states) return fst;
  fst.SetStart(static_cast<StateId>(r->Below(states)));
  for (uint32_t n = r->Below(20); n > 0; --n)
    fst.AddArc(static_cast<StateId>(r->Below(states)),
               Arc{static_cast<Label>(r->Below(5)), static_cast<Label>(r->Below(5)),
                   static_cast<float>(r->Below(8)) / 4, static_cast<StateId>(r->Below(states))});
  for (uint32_t s = 0; s < states; ++s)
    if (r->OneIn(3)) fst.SetFinal(static_cast<StateId>(s), static_cast<float>(r->Below(4)));
  return fst;
}

void CheckConsistent(const Fst& fst) {
  const StateId n = fst.NumStates();
  Require(fst.Start() >= -1 && fst.Start() < n, "the start is a state");
  for (StateId s = 0; s < n; ++s)
    for (const Arc& arc : fst.Arcs(s)) Require(arc.nextstate >= 0 && arc.nextstate < n, "arcs lead to states");
}

void Machines(Random* r) {
  const Fst fst = RandomFst(r);
  for (const FstFileKind kind : {FstFileKind::kVector, FstFileKind::kConst, FstFileKind::kConstAligned}) {
    const std::string file = WriteFst(fst, kind);
    size_t consumed = 0;
    const Fst same = ReadFst(reinterpret_cast<const uint8_t*>(file.data()), file.size(), &consumed);
    Require(consumed == file.size() && WriteFst(same, kind) == file, "reading gives back what was written");
    const std::string damaged = Mutated(file, r);
    Input(damaged);
    Tolerate([&] {
      const Fst read = ReadFst(reinterpret_cast<const uint8_t*>(damaged.data()), damaged.size());
      CheckConsistent(read);
      const std::string again = WriteFst(read);
      const Fst same = ReadFst(reinterpret_cast<const uint8_t*>(again.data()), again.size());
      Require(WriteFst(same) == again, "what was read can be written and read again");
      Connect(read);
    });
  }
  const TextOptions options;
  const std::string damaged = Mutated(ToText(fst, options), r);
  Input(damaged);
  Tolerate([&] {
    const Fst read = FromText(damaged, options);
    CheckConsistent(read);
    ToText(read, options);
  });
}

// A vocabulary that is read from damaged tables is refused, or its masks lead nowhere out of bounds.
void Vocabularies(Random* r) {
  const auto vocabulary = RandomVocabulary(r);
  const std::string image = vocabulary->Serialize(), tables = vocabulary->SerializeTables();
  const std::string damaged_image = r->OneIn(2) ? Mutated(image, r) : image;
  const auto damaged_tables = std::make_shared<std::string>(r->OneIn(2) ? Mutated(tables, r) : tables);
  Input(damaged_image);
  Tolerate([&] {
    const auto read = Vocabulary::Deserialize(damaged_image, *damaged_tables, damaged_tables);
    if (damaged_image == image) Require(read->Serialize() == image, "the tokens are those that were saved");
    const Language language = RegexLanguage(RandomPattern(r, 3, false), RegexOptions(), SmallLimits());
    TokenAutomaton automaton(language.Acceptor(), read, size_t{1} << 20);
    std::vector<uint32_t> row(read->Words());
    DelayedAcceptor::State q = automaton.Start();
    for (int step = 0; step < 6 && q; ++step) {
      automaton.FillMask(q, row.data());
      automaton.FillMask(q, 6, row.data());
      q = automaton.Advance(q, r->Below(read->Size()));
    }
  });
}

void Artifacts(Random* r) {
  const std::string fst = WriteFst(RandomFst(r));
  const std::string first(r->Below(50), 'x'), second(r->Below(50), 'y');
  const std::string file = fst + ArtifactTail(fst, {{"first", first}, {"second", second}});
  const auto parse = [](const std::string& bytes) {
    const std::string_view view = bytes;
    const size_t footer = std::min(view.size(), size_t{Artifact::kFooter});
    const uint64_t index = Artifact::IndexOffset(view.substr(view.size() - footer), view.size());
    return Artifact::Parse(view.substr(index), view.size());
  };
  const Artifact whole = parse(file);
  Require(whole.fst_length == fst.size() && whole.sections.size() == 2, "the sections are those that were written");
  const Artifact::Section& last = whole.sections[1];
  Require(file.substr(last.offset, last.length) == second, "a section is where the index says");
  const std::string damaged = Mutated(file, r);
  Input(damaged);
  Tolerate([&] {
    for (const Artifact::Section& s : parse(damaged).sections)
      Require(s.offset <= damaged.size() && s.length <= damaged.size() - s.offset, "sections are inside the file");
  });
}

void One(Random* r) {
  switch (r->Below(4)) {
    case 0:
      return Vocabularies(r);
    case 1:
      return Artifacts(r);
    default:
      return Machines(r);
  }
}

}  // namespace
}  // namespace tokamata

int main(int argc, char** argv) { return tokamata::RunCases("fuzz_artifact", argc, argv, tokamata::One); }
