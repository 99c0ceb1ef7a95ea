# Builds the image of the web server, the results worker and beat (Celery's scheduler). The image contains Python, but
# no compiler and no jail. docker-compose.yml runs the image as user 1000, not as root.
FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv fonts-dejavu-core \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY pyproject.toml uv.lock README.md ./
COPY api api
COPY docs docs
COPY ARCHITECTURE.md ./
COPY runner runner
COPY results results
COPY cli cli
COPY leaderboard leaderboard
COPY web web
COPY benchmarks benchmarks
COPY runtime/configurations runtime/configurations
COPY harness/schema harness/schema
COPY indexes indexes
RUN python3 -m venv /opt/uv && /opt/uv/bin/pip install --no-cache-dir uv==0.13.8 \
    && /opt/uv/bin/uv sync --frozen --no-dev --group docs --python /usr/bin/python3
# The volume mounted at /data gets its owner from this folder. If /data did not exist in the image, root would own the
# volume, and the site's user (1000) could not write to it.
RUN install -d -m 0700 -o 1000 -g 1000 /data /data/uploads /data/mail /data/artefacts /data/blobs
ENV PATH=/app/.venv/bin:$PATH PYTHONPATH=/app PYTHONUNBUFFERED=1 KEYDROME_VAR=/data MPLCONFIGDIR=/tmp/matplotlib
RUN KEYDROME_VAR=/app/var KEYDROME_STATIC_ROOT=/app/static python -m web.manage collectstatic --no-input
RUN sphinx-build -W -q -c docs/site docs /app/documentation
ENV KEYDROME_STATIC_ROOT=/app/static KEYDROME_DOCS_ROOT=/app/documentation
