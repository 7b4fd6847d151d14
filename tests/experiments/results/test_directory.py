"""What may be begun, continued and replaced."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.results import Identity, RunDirectory, open_run
from experiments.results.manifest import NAME, Manifest
from tests.experiments.results.comparison import assert_finished, contents
from tests.experiments.results.example import Example

SETTINGS = {
    "config_text": 'title = "a"\n\nsteps = 4\n',
    "identity": Identity("run", "float64", 3, {"jax": "1", "numpy": "2"}, {"threads": 2}),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results" / "first"


@pytest.fixture
def begun(path):
    RunDirectory.create(path, **SETTINGS).close()
    return path


def test_what_a_new_directory_says(path):
    with RunDirectory.create(path, **SETTINGS) as directory:
        assert not directory.is_complete
        assert open_run(path).manifest.status == "running"
        directory.complete()
    run = open_run(path)
    assert run.config_text == SETTINGS["config_text"]
    assert run.manifest == Manifest(SETTINGS["identity"], "complete")
    said = json.loads((path / NAME).read_text())
    assert said["identity"]["precision"] == "float64"
    assert said["identity"]["seed"] == 3
    assert said["identity"]["versions"] == {"jax": "1", "numpy": "2"}
    with pytest.raises(ValueError, match="expected a trajectory, found none: run, complete"):
        _ = run.dataset


def test_an_existing_directory_is_refused(begun):
    before = contents(begun)
    with pytest.raises(FileExistsError, match=r"does not exist; add --overwrite or --resume"):
        RunDirectory.create(begun, **SETTINGS)
    assert contents(begun) == before


def test_an_empty_directory_is_refused_without_a_word(path):
    path.mkdir(parents=True)
    with pytest.raises(FileExistsError, match="--overwrite or --resume"):
        RunDirectory.create(path, **SETTINGS)
    RunDirectory.resume(path, **SETTINGS).close()
    assert open_run(path).manifest.status == "running"


@pytest.mark.parametrize("name", ["notes.txt", NAME])
def test_foreign_directories_are_never_touched(path, name):
    path.mkdir(parents=True)
    (path / name).write_text('{"format": "of somebody else", "version": 1}')
    for refuse in (
        lambda: RunDirectory.create(path, **SETTINGS),
        lambda: RunDirectory.create(path, **SETTINGS, overwrite=True),
        lambda: RunDirectory.resume(path, **SETTINGS),
    ):
        with pytest.raises(FileExistsError):
            refuse()
    assert list(contents(path)) == [name]
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    with pytest.raises(FileNotFoundError):
        open_run(path)


def test_a_file_is_never_touched(path):
    path.parent.mkdir()
    path.write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(FileExistsError):
            RunDirectory.create(path, **SETTINGS, overwrite=overwrite)
    with pytest.raises(FileExistsError):
        RunDirectory.resume(path, **SETTINGS)
    assert path.read_text() == "mine"


def test_overwriting_replaces_everything(begun):
    (begun / "convergence.csv").write_text("of the old one")
    RunDirectory.create(begun, **SETTINGS | {"config_text": "b = 1\n"}, overwrite=True).close()
    assert sorted(contents(begun)) == ["config.toml", NAME]
    assert open_run(begun).config_text == "b = 1\n"
    assert [entry.name for entry in begun.parent.iterdir()] == [begun.name]


def test_a_link_to_a_directory_stays_one(begun, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(begun)
    RunDirectory.create(link, **SETTINGS | {"config_text": "b = 1\n"}, overwrite=True).close()
    assert link.is_symlink()
    assert open_run(begun).config_text == "b = 1\n"


def test_names_with_brackets_do_not_match_others(tmp_path):
    (tmp_path / ".partial-0123456789abcdef-a").mkdir()
    RunDirectory.create(tmp_path / "[a]", **SETTINGS).close()
    assert (tmp_path / ".partial-0123456789abcdef-a").exists()
    RunDirectory.create(tmp_path / "a", **SETTINGS).close()
    assert not (tmp_path / ".partial-0123456789abcdef-a").exists()


def test_two_writers_of_one_directory(begun):
    with RunDirectory.resume(begun, **SETTINGS):
        with pytest.raises(BlockingIOError, match="expected no other writer"):
            RunDirectory.resume(begun, **SETTINGS)
        with pytest.raises(BlockingIOError, match="expected no other writer"):
            RunDirectory.create(begun, **SETTINGS, overwrite=True)
    RunDirectory.resume(begun, **SETTINGS).close()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"config_text": 'title = "a"\n\nsteps = 8\n'}, r"\(-steps = 4; \+steps = 8\)"),
        ({"config_text": 'title = "a"\n\nsteps = 4'}, "line ends"),
        ({"identity": Identity("run", "float32", 3, {}, {"threads": 2})}, "float64 -> float32"),
        ({"identity": Identity("run", "float64", 4, {}, {"threads": 2})}, "seed: 3 -> 4"),
        ({"identity": Identity("run", "float64", 3, {}, {})}, "threads: 2 -> None"),
        (
            {"identity": Identity("run", "float64", 3, {"jax": "9"}, {"threads": 2})},
            "version of jax: 1 -> 9",
        ),
        (
            {"identity": Identity("run", "float64", 3, {}, {"threads": 2}, ("disjoint",))},
            r"ill_posed: \[\] -> \['disjoint'\]",
        ),
    ],
)
def test_another_run_is_not_continued(begun, change, words):
    before = contents(begun)
    with pytest.raises(ValueError, match=words):
        RunDirectory.resume(begun, **SETTINGS | change)
    assert contents(begun) == before
    RunDirectory.resume(begun, **SETTINGS).close()  # and the lock was given back


def test_packages_that_only_one_side_imported_do_not_matter(begun):
    other = Identity("run", "float64", 3, {"jax": "1", "scipy": "5"}, {"threads": 2})
    RunDirectory.resume(begun, **SETTINGS | {"identity": other}).close()


def test_a_failed_run_says_why_until_it_goes_on(begun):
    with RunDirectory.resume(begun, **SETTINGS) as directory:
        directory.fail("NaN after normalise in step 3")
    assert open_run(begun).manifest.status == "failed"
    assert open_run(begun).manifest.reason == "NaN after normalise in step 3"
    RunDirectory.resume(begun, **SETTINGS).close()
    assert open_run(begun).manifest.status == "running"
    assert open_run(begun).manifest.reason is None


@pytest.mark.parametrize("name", ["../other.txt", "/other.txt", NAME, "config.toml", "a/../.lock"])
def test_files_go_into_the_directory_only(begun, name):
    with RunDirectory.resume(begun, **SETTINGS) as directory:
        with pytest.raises(ValueError, match="expected a name inside"):
            directory.write(name, b"")
        assert directory.write("figures/state.svg", b"<svg/>").read_bytes() == b"<svg/>"


@given(data=st.data())
def test_a_damaged_manifest_is_told_from_a_foreign_one(tmp_path_factory, data):
    """Whatever a manifest holds, opening it gives one of two errors or a manifest."""
    path = tmp_path_factory.mktemp("damaged") / "run"
    RunDirectory.create(path, **SETTINGS).close()
    said = json.loads((path / NAME).read_text())
    values = st.none() | st.integers() | st.text(max_size=3) | st.just({}) | st.just({"a": 1})
    key = data.draw(st.sampled_from(["identity", "trajectory", "status", "reason", "version"]))
    if data.draw(st.booleans()):
        del said[key]
    else:
        said[key] = data.draw(values)
    text = json.dumps(said)
    (path / NAME).write_text(text[: data.draw(st.integers(0, len(text)) | st.just(len(text)))])
    try:
        found = open_run(path).manifest
    except (ValueError, FileNotFoundError):
        with pytest.raises((ValueError, FileExistsError)):
            RunDirectory.resume(path, **SETTINGS)
    else:
        assert json.loads(found.to_bytes()) == said


def test_a_later_format_is_refused_but_recognised(begun):
    said = json.loads((begun / NAME).read_text())
    (begun / NAME).write_text(json.dumps(said | {"version": 2}))
    with pytest.raises(ValueError, match="expected version 1 of the format, found 2"):
        open_run(begun)
    RunDirectory.create(begun, **SETTINGS, overwrite=True).close()
    assert open_run(begun).manifest.status == "running"


def test_a_run_is_not_complete_before_its_last_step(path):
    example = Example()
    with RunDirectory.create(
        path, config_text=example.config_text, identity=example.identity
    ) as directory:
        from experiments.results.writer import TrajectoryWriter

        writer = TrajectoryWriter(directory, example.layout, share=1)
        writer.append(next(example.pieces(example.start, 0)))
        with pytest.raises(ValueError, match="expected 12 steps before it is complete, found 4"):
            directory.complete()
    example.resume(path)
    assert_finished(path, example)
    example.resume(path)  # there is nothing to do, and nothing changes
    assert_finished(path, example)
