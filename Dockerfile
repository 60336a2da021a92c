# PostgreSQL's official image with pfs loaded.
#
#   docker build --build-arg VERSION=17 --tag postgres-pfs .
#   docker run -e POSTGRES_PASSWORD=secret postgres-pfs

ARG VERSION=17

FROM postgres:${VERSION} AS build
ARG VERSION
RUN apt-get update && apt-get install -y --no-install-recommends \
	gcc make libc6-dev libpq-dev libssl-dev libkrb5-dev postgresql-server-dev-${VERSION}
COPY . /pfs
RUN make -C /pfs && make -C /pfs install DESTDIR=/install

FROM postgres:${VERSION}
COPY --from=build /install /
# The image's start script makes a server with this setting, and runs this file in its first database.
RUN echo "shared_preload_libraries = 'pfs'" >>/usr/share/postgresql/postgresql.conf.sample && \
	echo "CREATE EXTENSION pfs;" >/docker-entrypoint-initdb.d/pfs.sql
