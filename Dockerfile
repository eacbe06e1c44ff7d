# Quarry with everything a laptop's installation has. `docker build --tag quarry:local .`; compose.yaml puts a Postgres beside it.

FROM python:3.13-slim-trixie AS build
WORKDIR /source
RUN python -m venv /opt/quarry
# The dependencies first: they change less often than the code.
COPY requirements/local.txt requirements/
RUN /opt/quarry/bin/pip install --no-cache-dir --no-deps --require-hashes --requirement requirements/local.txt
COPY LICENSE NOTICE README.md pyproject.toml ./
COPY layers/quarry/quarry layers/quarry/quarry
COPY sql sql
RUN /opt/quarry/bin/pip install --no-cache-dir --no-deps --no-build-isolation --no-index .

FROM python:3.13-slim-trixie
RUN useradd --uid 10001 --create-home --home-dir /var/lib/quarry quarry
COPY --from=build /opt/quarry /opt/quarry
ENV PATH=/opt/quarry/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    QUARRY_DATA_DIR=/var/lib/quarry
USER 10001
WORKDIR /var/lib/quarry
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/health', timeout=4)"]
ENTRYPOINT ["quarry"]
# All of the container's addresses; which of the machine's lead here is said where the port is published.
CMD ["serve", "--host", "0.0.0.0"]
