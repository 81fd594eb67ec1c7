# The only place with names of container images. Lines are `KEY ?= value`; test/devcluster reads this file too.
# `make IMAGE_REGISTRY=registry.example.com/team …` moves the project's own images elsewhere.
IMAGE_REGISTRY ?= ghcr.io/keelson-dev
OPERATOR_IMAGE ?= $(IMAGE_REGISTRY)/mysql-operator
BUNDLE_IMAGE ?= $(IMAGE_REGISTRY)/mysql-operator-bundle
CATALOG_IMAGE ?= $(IMAGE_REGISTRY)/mysql-operator-catalog
# What spec.version means; the development cluster serves Debian's build of MySQL under this name.
MYSQL_IMAGE ?= docker.io/library/mysql
# Holds the namespaces of each pod in the development cluster.
PAUSE_IMAGE ?= docker.io/keelson/pause:1
# Builder and base of the ordinary Dockerfile.
GO_IMAGE ?= docker.io/library/golang:1.26.8
BASE_IMAGE ?= gcr.io/distroless/static:nonroot
