"""OpenFst files: both sides read what the other writes, and no bytes can do harm."""

from __future__ import annotations

import pickle
import random
import struct
import subprocess

import pytest
import pywrapfst
from oracle.openfst import from_openfst, to_openfst
from oracle.programs import program
from oracle.random_fst import SEMIRINGS, random_fst
from tokamata.automata import Fst, FstError, MissingFileError, SymbolTable

KINDS = ("vector", "const", "const_aligned")


def with_symbols(rng: random.Random, fst: Fst) -> Fst:
    for side in ("input_symbols", "output_symbols"):
        if rng.random() < 0.6:
            table = SymbolTable(f"{side} é")
            table.add("<epsilon>")
            for i in range(rng.randint(1, 9)):
                table.add(f"s{i}", i + 1 if rng.random() < 0.7 else i * 1000 + 77)
            setattr(fst, side, table)
    return fst


def entries(table) -> dict | None:
    return None if table is None else dict(table)


def same(a: Fst, b: Fst) -> bool:
    return a.to_bytes() == b.to_bytes() and a.semiring == b.semiring


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("seed", range(30))
def test_openfst_reads_ours(tmp_path, semiring, kind, seed):
    rng = random.Random(seed)
    fst = with_symbols(rng, random_fst(rng, semiring))
    path = tmp_path / "a.fst"
    fst.write(path, kind)
    theirs = pywrapfst.Fst.read(str(path))
    assert theirs.fst_type() == kind.split("_")[0]
    assert theirs.arc_type() == ("log" if semiring == "log" else "standard")
    again = from_openfst(theirs, semiring)
    for ours, table in (("input_symbols", theirs.input_symbols()), ("output_symbols", theirs.output_symbols())):
        assert entries(getattr(fst, ours)) == entries(table), f"seed {seed}"
        if table is not None:
            assert table.name() == getattr(fst, ours).name
            assert table.available_key() == getattr(fst, ours).available_key()
            setattr(again, ours, getattr(fst, ours))
    assert same(again, fst), f"seed {seed}"
    assert same(Fst.read(path, semiring=semiring), fst)
    assert same(pickle.loads(pickle.dumps(fst)), fst)


@pytest.mark.parametrize("kind", ["vector", "const"])
@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("seed", range(30))
def test_we_read_openfsts(tmp_path, semiring, kind, seed):
    rng = random.Random(seed)
    fst = random_fst(rng, semiring)
    if fst.start() < 0 and fst.num_states() and kind == "const":  # OpenFst cannot convert such a machine
        return
    theirs = to_openfst(fst)
    table = pywrapfst.SymbolTable("names")
    for i, name in enumerate(("<eps>", "a", "b", "c")):
        table.add_symbol(name, i * (1 + seed % 2))
    theirs.set_input_symbols(table)
    theirs = pywrapfst.convert(theirs, kind)
    path = tmp_path / "b.fst"
    theirs.write(str(path))
    got = Fst.read(path, semiring=semiring)
    assert entries(got.input_symbols) == entries(table)
    assert got.input_symbols.name == "names"
    assert got.output_symbols is None
    got.input_symbols = None
    assert same(got, fst), f"seed {seed}"
    # What OpenFst writes is, byte for byte, what we write (it leaves properties out that it has not computed).
    ours = Fst.read(path, semiring=semiring).to_bytes(kind)
    at = 4 + 4 + len(kind) + 4 + (3 if semiring == "log" else 8) + 8
    data = path.read_bytes()
    assert ours[:at] == data[:at]
    assert ours[at + 8 :] == data[at + 8 :]


@pytest.mark.parametrize("kind", KINDS)
def test_libfst_tools(tmp_path, kind):
    program("fstinfo")
    rng = random.Random(7)
    path = tmp_path / "c.fst"
    for semiring in SEMIRINGS:
        fst = random_fst(rng, semiring, states=9, arcs=30)
        fst.write(path, kind)
        info = subprocess.run(["fstinfo", str(path)], check=True, capture_output=True, text=True).stdout
        facts = dict(line.rsplit(maxsplit=1) for line in info.splitlines())
        assert facts["fst type"] == kind.split("_")[0]
        assert facts["# of states"] == str(fst.num_states())
        assert facts["# of arcs"] == str(fst.num_arcs())
        assert (
            subprocess.run(["fstprint", str(path)], check=True, capture_output=True, text=True).stdout == fst.to_text()
        )


def sample(semiring="tropical") -> Fst:
    rng = random.Random(3)
    fst = random_fst(rng, semiring, states=6, arcs=20)
    while fst.num_arcs() < 6:
        fst = random_fst(rng, semiring, states=6, arcs=20)
    table = SymbolTable("t")
    for name in ("<eps>", "a", "b"):
        table.add(name)
    fst.input_symbols = fst.output_symbols = table
    return fst


@pytest.mark.parametrize("kind", KINDS)
def test_every_truncation_is_refused(kind):
    data = sample().to_bytes(kind)
    for n in range(len(data)):
        with pytest.raises(FstError, match=r"Fst\.read: at byte \d+"):
            Fst.read(data[:n])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_mutated_bytes_never_harm(kind, semiring):
    data = sample(semiring).to_bytes(kind)
    rng = random.Random(11)
    refused = 0
    for _ in range(4000):
        mutant = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            i = rng.randrange(len(mutant))
            how = rng.randrange(5)
            if how == 0:
                mutant[i] ^= 1 << rng.randrange(8)
            elif how == 1:
                mutant[i] = rng.choice((0, 1, 0x7F, 0x80, 0xFF))
            elif how == 2:
                mutant[i : i + 4] = struct.pack("<i", rng.choice((-1, 0, 2**31 - 1, -(2**31), 1 << 20)))
            elif how == 3:
                mutant[i : i + 8] = struct.pack("<q", rng.choice((-1, 2**63 - 1, -(2**63), 2**32, 2**61)))
            else:
                del mutant[i : i + rng.randint(1, 20)]
            if not mutant:
                break
        try:
            fst = Fst.read(bytes(mutant))
        except FstError:
            refused += 1
            continue
        states = fst.num_states()
        assert -1 <= fst.start() < states
        for arc in fst.arcs_array():
            assert 0 <= arc["nextstate"] < states
            assert arc["ilabel"] >= 0
            assert arc["olabel"] >= 0
        fst.to_bytes()
    assert refused > 500


def header(kind="vector", arc="standard", version=2, flags=0, start=0, states=1, arcs=0) -> bytes:
    return (
        struct.pack("<i", 2125659606)
        + struct.pack("<i", len(kind)) + kind.encode()
        + struct.pack("<i", len(arc)) + arc.encode()
        + struct.pack("<iiQqqq", version, flags, 3, start, states, arcs)
    )  # fmt: skip


STATE = struct.pack("<fq", 0.0, 1)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", r"at byte 0: expected the header of an OpenFst file .* got 0 bytes to the end"),
        (b"0 1 1 1\n1\n", r"expected an OpenFst file, got other bytes; for AT&T text use Fst\.from_text"),
        (header("ngram"), r'the Fst type is "ngram"; expected "vector" or "const"; convert it with fstconvert'),
        (header(arc="log64"), r'the arc type is "log64"; expected "standard" or "log"'),
        (header(version=1), r"version 1 of a vector Fst; expected version 2"),
        (header("const", version=7), r"version 7 of a const Fst; expected version 1 or 2"),
        (header(states=2**60), r"the header tells of 1152921504606846976 states"),
        (header(states=-2), r"the header tells of -2 states"),
        (header(states=2**31 - 1), r"expected 2147483647 states, but 0 bytes are left; the file is truncated"),
        (header(start=1) + struct.pack("<fq", 0, 0), r"the start state is 1; the machine has 1 states"),
        (header(start=-2) + struct.pack("<fq", 0, 0), r"the start state is -2"),
        (header() + struct.pack("<fq", 0, 2**60), r"expected 1152921504606846976 arcs, but 0 bytes are left"),
        (header() + struct.pack("<fq", 0, -1), r"expected -1 arcs"),
        (header() + STATE + struct.pack("<iifi", 1, 1, 0, 1), r"an arc leads to state 1; the machine has 1 states"),
        (header() + STATE + struct.pack("<iifi", 1, -1, 0, 0), r"labels 1:-1; negative labels are not supported"),
        (header() + STATE + struct.pack("<iifi", 1, 1, float("nan"), 0), r"the weight of an arc is NaN or -infinity"),
        (header() + struct.pack("<fq", float("nan"), 0), r"a final weight is NaN or -infinity"),
        (header(flags=1) + bytes(40), r"expected a symbol table, got other bytes"),
        (header("const", arcs=1) + struct.pack("<fIIII", 0, 0, 0, 0, 0), r"tells of 1 arcs, the states of 0"),
        (header("const", arcs=1) + struct.pack("<fIIII", 0, 5, 1, 0, 0), r"do not follow those of the state before"),
    ],
)  # fmt: skip
def test_damaged(data, text):
    with pytest.raises(FstError, match=text):
        Fst.read(data)


def test_states_until_the_end():
    states = STATE + struct.pack("<iifi", 1, 2, 0.5, 1) + struct.pack("<fq", 0.0, 0)
    fst = Fst.read(header(states=-1) + states)
    assert (fst.num_states(), fst.num_arcs()) == (2, 1)


def test_bytes_behind_are_ignored():
    for kind in KINDS:
        assert same(Fst.read(sample().to_bytes(kind) + b"more"), sample())


def test_files_and_semirings(tmp_path):
    with pytest.raises(MissingFileError, match=r"Fst\.read: there is no file .*nowhere\.fst"):
        Fst.read(tmp_path / "nowhere.fst")
    path = tmp_path / "bad.fst"
    path.write_bytes(b"nonsense")
    with pytest.raises(FstError, match=r"expected an OpenFst file.*bad\.fst"):
        Fst.read(path)
    weighted = sample()
    weighted.set_final(0, 0.5)
    with pytest.raises(FstError, match=r'semiring="boolean" expects a machine without weights'):
        Fst.read(weighted.to_bytes(), semiring="boolean")
    with pytest.raises(FstError, match=r"expected a machine over the log semiring, got tropical"):
        Fst.read(weighted.to_bytes(), semiring="log")
    with pytest.raises(FstError, match=r'unknown kind "compact"; expected "vector", "const" or "const_aligned"'):
        weighted.write(path, "compact")
    with pytest.raises(FstError, match=r"^Fst.read: '.*' is a folder; pass the path of a file in it"):
        Fst.read(tmp_path)
    with pytest.raises(IsADirectoryError, match=r"Is a directory; pass the name of a file in it: '"):
        sample().write(tmp_path)
    for place, kind in ((tmp_path / "none" / "a.fst", FileNotFoundError), (path / "a.fst", NotADirectoryError)):
        with pytest.raises(kind, match=r"irectory; make its folder first: '.*a\.fst'"):
            sample().write(place)
