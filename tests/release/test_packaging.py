"""The texts for conda and Homebrew require what the package requires; the development container sets itself up."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.documents.test_readme import targets_of_make

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FORMULA = ROOT / "packaging" / "homebrew" / "evalreport.rb"
CONDA_NAMES = {"duckdb": "python-duckdb", "matplotlib": "matplotlib-base", "msgspec": "msgspec-python"}
"""Packages that conda-forge calls otherwise."""
OF_HOMEBREW = {"matplotlib": "python-matplotlib", "numpy": "numpy", "scipy": "scipy"}
"""Packages that are formulas of their own there; the others are resources."""


def requirements() -> dict[str, str]:
    """Return the required packages and their lowest versions."""
    return dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", line).groups() for line in PROJECT["dependencies"])


def test_the_conda_recipe_requires_what_the_package_requires():
    """The same packages, by their names there, with the same lowest versions, Python and program."""
    recipe = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    python, *packages = recipe["requirements"]["run"]
    expected = {CONDA_NAMES.get(name, name): version for name, version in requirements().items()}
    assert dict(line.split(" >=") for line in packages) == expected
    assert f">={recipe['context']['python_min']}" == PROJECT["requires-python"]
    assert python.startswith("python >=")
    (program,) = recipe["build"]["python"]["entry_points"]
    assert program == f"evalreport = {PROJECT['scripts']['evalreport']}"
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["license_file"] == PROJECT["license-files"]
    assert recipe["about"]["summary"] == PROJECT["description"]


def test_the_formula_requires_what_the_package_requires():
    """Each package is a formula or a resource that is named; Pango draws the PDF."""
    text = FORMULA.read_text(encoding="utf-8")
    formulas = set(re.findall(r'depends_on "([\w@.-]+)"', text))
    (resources,) = re.findall(r"# Resources for: (.*), and what they need\.", text)
    packages = set(requirements())
    assert set(resources.split(", ")) == packages - set(OF_HOMEBREW)
    assert {*OF_HOMEBREW.values(), "pango"} <= formulas
    assert f'license "{PROJECT["license"]}"' in text
    (description,) = re.findall(r'desc "(.*)"', text)
    assert len(description) < 80  # Homebrew's audit asks for it, and for no article or name at the beginning
    assert not re.match(r"(?i)(an?|the|evalreport) ", description)


@pytest.mark.skipif(shutil.which("ruby") is None, reason="ruby is not installed")
def test_the_formula_is_ruby():
    """`ruby -c` reads it."""
    done = subprocess.run(["ruby", "-c", str(FORMULA)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_development_container_sets_itself_up():
    """By targets of the Makefile, on the Python of the lock files."""
    content = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    make, *targets = content["postCreateCommand"].split()
    assert make == "make"
    assert set(targets) <= targets_of_make()
    assert content["image"].endswith("python:3.11-bookworm")
