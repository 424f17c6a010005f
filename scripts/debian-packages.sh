#!/bin/bash
# debian-packages.sh pdf|system|venv [PYTHON_VERSION]
#
# Installs what Python packages cannot bring, from Debian: with apt-get as root or with a sudo that asks for no
# password; otherwise it prints the line to type. Missing packages stop nothing (exit 0) except for `venv`,
# without which there is no going on (exit 2).
set -euo pipefail
cd "$(dirname "$0")/.."

lacks_library() { # a shared library the dynamic loader cannot find
    ! "${PYTHON:-python3}" -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$1" 2>/dev/null
}

lacks_program() {
    ! command -v "$1" >/dev/null 2>&1
}

missing=()
need_library() { if lacks_library "$1"; then missing+=("$2"); fi; }
need_program() { if lacks_program "$1"; then missing+=("$2"); fi; }
need_file() { if [ ! -e "$1" ]; then missing+=("$2"); fi; }

[ -x .venv/bin/python ] && PYTHON=.venv/bin/python

case ${1-} in
pdf)
    consequence="everything but the PDF is made"
    need_library libpango-1.0.so.0 libpango-1.0-0
    need_library libpangoft2-1.0.so.0 libpangoft2-1.0-0
    need_library libharfbuzz-subset.so.0 libharfbuzz-subset0
    ;;
system)
    consequence="the tests that need them are skipped, each with its reason"
    need_library libpango-1.0.so.0 libpango-1.0-0
    need_library libpangoft2-1.0.so.0 libpangoft2-1.0-0
    need_library libharfbuzz-subset.so.0 libharfbuzz-subset0
    need_program chromium chromium
    need_program pdftotext poppler-utils
    need_program qpdf qpdf
    need_program debootstrap debootstrap
    need_program node nodejs
    need_program npm npm
    need_program javac default-jdk-headless
    need_file /usr/share/java/jaxb-runtime.jar libjaxb-java
    need_file /usr/lib/postgresql postgresql
    ;;
venv)
    consequence="without it no virtual environment can be made"
    missing=("python${2:-3}-venv")
    ;;
*)
    echo "usage: debian-packages.sh pdf|system|venv [PYTHON_VERSION]" >&2
    exit 2
    ;;
esac

[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
may_install=no
if lacks_program apt-get; then
    :
elif [ "$(id -u)" = 0 ]; then
    may_install=yes
elif ! lacks_program sudo && sudo -n true 2>/dev/null; then
    may_install=yes
    as_root=(sudo -n)
fi

install() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

if [ $may_install = yes ]; then
    echo "Installing from Debian: ${missing[*]} ..." >&2
    # The package lists of a fresh machine are empty or old: renew them only when the first try fails.
    if install >/dev/null 2>&1 || { "${as_root[@]}" apt-get update -qq >/dev/null 2>&1 && install >/dev/null; }; then
        exit 0
    fi
    echo "apt-get could not install them." >&2
fi
cat >&2 <<END

Missing: ${missing[*]}; $consequence. To install:

    sudo apt-get install ${missing[*]}

END
if [ "$1" = venv ]; then exit 2; fi
