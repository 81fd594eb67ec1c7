# syntax=docker/dockerfile:1
# The operator's image for those who have Docker. `make images` makes the same image without it.
ARG GO_IMAGE=docker.io/library/golang:1.26.8
ARG BASE_IMAGE=gcr.io/distroless/static:nonroot

FROM --platform=${BUILDPLATFORM} ${GO_IMAGE} AS build
ARG TARGETOS=linux
ARG TARGETARCH
ARG VERSION=dev
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -ldflags "-s -w -buildid= -X main.version=${VERSION}" -o /manager ./cmd/manager

FROM ${BASE_IMAGE}
ARG VERSION=dev
LABEL org.opencontainers.image.title="mysql-operator" \
      org.opencontainers.image.description="Keelson's operator for MySQL on Kubernetes" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/keelson-dev/mysql-operator" \
      org.opencontainers.image.vendor="keelson.dev" \
      org.opencontainers.image.version="${VERSION}"
WORKDIR /
COPY --from=build /manager /manager
COPY LICENSE /licenses/LICENSE
USER 65532:65532
ENTRYPOINT ["/manager"]
