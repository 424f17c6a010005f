# A small image of evalreport for runs and audits, with the PDF's libraries. Build it in a checkout, run it on a folder:
#
#   docker build -t evalreport .
#   docker run --rm --network none --read-only --tmpfs /tmp -v "$PWD:/work" -u "$(id -u):$(id -g)" evalreport run models
#
# Every step of it also runs in a bare Debian in `make test-system` (tests/system/test_container.py).
FROM debian:bookworm-slim AS build
RUN apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ca-certificates python3-venv
COPY requirements /source/requirements
COPY scripts /source/scripts
RUN python3 -m venv /opt/evalreport && python3 -m venv /opt/backend \
    && /source/scripts/install-pinned.sh /opt/evalreport /source/requirements/pipeline.txt \
    && /source/scripts/install-pinned.sh /opt/backend /source/requirements/build.txt
COPY pyproject.toml README.md LICENSE NOTICE /source/
COPY evalreport /source/evalreport
COPY templates /source/templates
RUN /opt/backend/bin/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir /wheel /source \
    && /opt/evalreport/bin/python -m pip install --quiet --no-deps --no-index /wheel/*.whl \
    && /opt/evalreport/bin/python -m pip uninstall --quiet --yes uv

FROM debian:bookworm-slim
RUN apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        python3 libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home evalreport
COPY --from=build /opt/evalreport /opt/evalreport
ENV PATH=/opt/evalreport/bin:/usr/local/bin:/usr/bin:/bin HOME=/tmp MPLCONFIGDIR=/tmp/matplotlib
USER evalreport
WORKDIR /work
ENTRYPOINT ["evalreport"]
CMD ["--help"]
