# The bench worker: referee, driver, player, jail and reference libraries, built from source in a first stage.
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends build-essential cmake ninja-build pkg-config \
    libseccomp-dev nlohmann-json3-dev libgtest-dev libgmock-dev libdb5.3-dev musl-tools && rm -rf /var/lib/apt/lists/*
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
# A named volume takes its owner from here; made by root at run time, the site's user could not write to it.
RUN install -d -m 0700 -o 1000 -g 1000 /data /data/uploads /data/mail /data/artefacts /data/blobs
ENV PATH=/app/.venv/bin:$PATH PYTHONPATH=/app PYTHONUNBUFFERED=1 KEYDROME_VAR=/data
