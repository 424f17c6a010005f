"""The Dockerfile, and the demo, in a bare Debian made on this machine: no container runtime is needed."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from .programs import CACHE, EXAMPLE, ROOT, output_of, program

pytestmark = [pytest.mark.system, pytest.mark.machines]

MIRROR = "http://deb.debian.org/debian"
SECONDS_OF_THE_DEMO = 150.0
"""Promised are 75 on a machine that does nothing else; two cores that run other tests as well have taken 37."""
CERTIFICATES = "/etc/certificates-of-this-machine.pem"
"""Where a proxy of this machine needs certificates of its own, the steps have them."""


def steps() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions with their arguments."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines if line.strip())]


def bare_debian(release: str) -> Path:
    """Return a root file system of Debian's essential packages, as the slim images have them; made once."""
    place = CACHE / f"debian-{release}"
    if not place.is_dir():
        debootstrap = program("debootstrap", "debootstrap")
        unfinished = place.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        output_of(debootstrap, "--variant=minbase", release, unfinished, MIRROR)
        unfinished.rename(place)
    return place


@dataclass
class Stage:
    """A root file system, and what the instructions so far have set for the next."""

    root: Path
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
    user: str = "0:0"
    folder: str = "/"

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a line of shell inside, with /dev and /proc as a container has them."""
        mounts = f"mount --rbind /dev {self.root}/dev && mount -t proc proc {self.root}/proc"
        inside = f"cd {self.folder} && {command}"
        words = [
            program("chroot", "coreutils"),
            f"--userspec={self.user}",
            str(self.root),
            "/bin/sh",
            "-c",
            inside,
        ]
        return subprocess.run(
            ["unshare", "--mount", "sh", "-c", f"{mounts} && exec {shlex.join(words)}"],
            env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def step(self, command: str) -> str:
        """Run a line that has to succeed; return what it printed."""
        done = self.run(command)
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
        return done.stdout

    def take(self, sources: list[str], target: str, *, of: Path) -> None:
        """Copy files in, as COPY does: the content of a folder, or files into a folder."""
        place = self.root / target.lstrip("/")
        for source in sources:
            path = of / source.lstrip("/")
            if path.is_dir():
                shutil.copytree(path, place, symlinks=True, dirs_exist_ok=True)
            else:
                place.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, place)


def with_own_certificates(stage: Stage) -> None:
    """Let a stage find names, and trust what this machine trusts."""
    shutil.copy("/etc/resolv.conf", stage.root / "etc")
    if own := os.environ.get("SSL_CERT_FILE"):
        shutil.copy(own, stage.root / CERTIFICATES[1:])
        stage.environment |= {"SSL_CERT_FILE": CERTIFICATES, "PIP_CERT": CERTIFICATES}


def built(folder: Path) -> tuple[Stage, list[str]]:
    """Follow the instructions; return the last stage and what a container of it starts."""
    stages: dict[str, Stage] = {}
    stage, entry = Stage(folder), []
    for name, rest in steps():
        if name == "FROM":
            image, _, label = rest.partition(" AS ")
            release = re.fullmatch(r"debian:(\w+)-slim", image)
            assert release is not None, image
            stage = stages[label] = Stage(folder / (label or "last"))
            output_of("cp", "-a", bare_debian(release[1]), stage.root)
            with_own_certificates(stage)
        elif name == "RUN":
            stage.step(rest)
        elif name == "COPY":
            words = rest.split()
            of = ROOT
            if words[0].startswith("--from="):
                of = stages[words.pop(0).removeprefix("--from=")].root
            else:
                allowed = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
                assert all(f"!{word}" in allowed for word in words[:-1]), words
            stage.take(words[:-1], words[-1], of=of)
        elif name == "ENV":
            stage.environment |= dict(word.split("=", 1) for word in rest.split())
        elif name == "USER":
            stage.user = stage.step(f"id -u {rest}").strip() + ":" + stage.step(f"id -g {rest}").strip()
        elif name == "WORKDIR":
            (stage.root / rest[1:]).mkdir(parents=True, exist_ok=True)
            stage.folder = rest
        elif name == "ENTRYPOINT":
            entry = json.loads(rest)
        else:
            assert name == "CMD", name
    return stage, entry


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stage, list[str]]]:
    """The image of the Dockerfile."""
    if os.geteuid() != 0:
        pytest.skip("a root file system can be made by root alone")
    program("unshare", "util-linux")
    folder = tmp_path_factory.mktemp("image")
    yield built(folder)
    shutil.rmtree(folder, ignore_errors=True)


def test_the_image_makes_a_report_as_nobody_of_importance(image):
    """PDF included, as a user that is not root, with nothing of the build in it."""
    stage, entry = image
    assert stage.user != "0:0"
    work = stage.root / stage.folder[1:]
    stage.take([EXAMPLE.name], "/work/models", of=EXAMPLE.parent)
    user, group = map(int, stage.user.split(":"))
    os.chown(work, user, group)
    start = shlex.join(entry)
    assert re.fullmatch(r"evalreport \d+\.\d+\.\d+\S*\n", stage.step(f"{start} --version"))
    stage.step(f"{start} run models --resamples 100 -f html,pdf,json,md -o out")
    assert (work / "out/report.pdf").read_bytes()[:5] == b"%PDF-"
    assert (work / "out/report.html").stat().st_uid == user
    assert stage.run("test -e /source || test -e /opt/backend || command -v uv").returncode != 0


def test_the_image_has_what_the_readme_promises_of_an_extra(image):
    """A history of audits, without installing anything more."""
    stage, entry = image
    if not (stage.root / "work/models").is_dir():
        stage.take([EXAMPLE.name], "/work/models", of=EXAMPLE.parent)
    stage.step(
        f"{shlex.join(entry)} audit models --resamples 50 -f json -o /tmp/out --history sqlite:////tmp/audits.db"
    )


def test_the_demo_sets_up_a_bare_debian(tmp_path: Path):
    """`make demo` as the README says, from nothing but make and Python: the line before the last names the report."""
    if os.geteuid() != 0:
        pytest.skip("a root file system can be made by root alone")
    stage = Stage(tmp_path / "debian")
    output_of("cp", "-a", bare_debian("bookworm"), stage.root)
    with_own_certificates(stage)
    made = shutil.ignore_patterns(
        ".git",
        ".venv",
        ".cache",
        "build",
        "dist",
        "evalreport-out",
        "evalreport-demo",
        ".*_cache",
        "__pycache__",
    )
    shutil.copytree(ROOT, stage.root / "checkout", ignore=made, symlinks=True)
    install = "apt-get install -y -qq --no-install-recommends make python3"
    stage.step(f"apt-get update -qq && DEBIAN_FRONTEND=noninteractive {install}")
    stage.environment["HOME"] = "/root"
    stage.folder = "/checkout"
    begin = time.monotonic()
    said = stage.step("make demo")
    seconds = time.monotonic() - begin
    assert said.splitlines()[-2] == "report: evalreport-demo/report/report.html"
    assert (stage.root / "checkout/evalreport-demo/report/report.pdf").read_bytes()[:5] == b"%PDF-"
    assert seconds < SECONDS_OF_THE_DEMO
    shutil.rmtree(tmp_path, ignore_errors=True)
