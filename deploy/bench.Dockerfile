# Builds the image of the bench worker, which executes the runs of submitted libraries. The first stage compiles the
# programs and reference libraries. The second stage contains the compiled files, the repository and Python, but no
# compiler.
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends build-essential cmake ninja-build patch pkg-config \
    libseccomp-dev nlohmann-json3-dev libgtest-dev libgmock-dev libdb5.3-dev liblmdb-dev libabsl-dev libtbb-dev musl-tools && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY . .
RUN cmake --preset release && cmake --build --preset release --parallel

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv libseccomp2 libdb5.3 \
    libstdc++6 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY . .
COPY --from=build /app/build/release/bin build/release/bin
COPY --from=build /app/build/release/lib build/release/lib
RUN python3 -m venv /opt/uv && /opt/uv/bin/pip install --no-cache-dir uv==0.13.8 \
    && /opt/uv/bin/uv sync --frozen --no-dev --python /usr/bin/python3
# The volume mounted at /data gets its owner from this folder. If /data did not exist in the image, root would own the
# volume, and the site's user (1000) could not write to it.
RUN install -d -m 0700 -o 1000 -g 1000 /data /data/uploads /data/mail /data/artefacts /data/blobs
ENV PATH=/app/.venv/bin:$PATH PYTHONPATH=/app PYTHONUNBUFFERED=1 KEYDROME_VAR=/data
