# One image for the web process, the worker and one-off commands such as `python manage.py migrate`. Build it with
# `docker build --tag atelier .`. Both base images can be replaced, for example by a digest, with `--build-arg`.
ARG NODE_IMAGE=node:24-bookworm-slim
ARG PYTHON_IMAGE=python:3.11-slim-bookworm

# --- the web app ---------------------------------------------------------------------------------------------------
FROM ${NODE_IMAGE} AS web-app
WORKDIR /build
COPY frontend/package.json frontend/package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
COPY frontend/ ./
RUN npm run --silent build -- --logLevel warn

# --- the Python packages and the application -------------------------------------------------------------------------
FROM ${PYTHON_IMAGE} AS application
WORKDIR /app
# The virtual environment has no pip of its own: nothing is installed after this step. Every package is a wheel.
COPY requirements/run.txt requirements/
RUN python3 -m venv --without-pip .venv \
    && python3 -m pip --python .venv/bin/python install \
        --no-cache-dir --only-binary=:all: --require-hashes --requirement requirements/run.txt
COPY . .
# Of the web app, only what was built is served.
RUN rm -r frontend
COPY --from=web-app /build/dist frontend/dist
# Translations are compiled; modules, too, so that a process starts seconds faster; browsers get compressed files.
RUN .venv/bin/pybabel -q compile -d locale -D django \
    && .venv/bin/python -m compileall -q -x '/app/\.venv/' /app \
    && .venv/bin/python -m whitenoise.compress --quiet frontend/dist

# --- the image -------------------------------------------------------------------------------------------------------
FROM ${PYTHON_IMAGE}
RUN groupadd --gid 10001 atelier \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin atelier
# A volume that is mounted here belongs to this user.
RUN install --directory --owner=10001 --group=10001 --mode=700 /files
WORKDIR /app
# Owned by root: the application cannot change its own files.
COPY --from=application /app ./
ENV PATH=/app/.venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HOST=0.0.0.0 \
    PORT=8000
USER 10001:10001
EXPOSE 8000
# Answered without the database, so a database that is away restarts nothing.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f'http://127.0.0.1:{os.environ[\"PORT\"]}/healthz', timeout=4)"]
CMD ["python", "-m", "server.serve"]
