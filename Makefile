# `make` lists what there is. Each topic has a file of its own in make/.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
ROOT := $(CURDIR)

# VERSION is the release; images, manifests and the binary carry it.
VERSION ?= 0.1.0
# make/images.mk holds all names of images.
include make/images.mk
# IMG is the operator's image.
IMG ?= $(OPERATOR_IMAGE):v$(VERSION)
# PLATFORMS is what docker-buildx builds for.
PLATFORMS ?= linux/amd64,linux/arm64

include make/tools.mk make/generate.mk make/check.mk make/test.mk make/e2e.mk make/deploy.mk make/devcluster.mk

##@ General

.PHONY: help
help: ## Show this list.
	@awk 'BEGIN {FS = ":.*##"; print "Usage: make TARGET"} \
		/^##@/ {printf "\n%s\n", substr($$0, 5)} \
		/^[a-zA-Z0-9_-]+:.*##/ {printf "  %-24s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the binaries into bin/.
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/ ./cmd/...

.PHONY: run
run: install ## Run the operator on this machine against the current kubeconfig.
	OPERATOR_IMAGE=$${OPERATOR_IMAGE:-$(IMG)} go run ./cmd/manager operator --zap-devel

.PHONY: clean
clean: ## Remove what was built inside the checkout (caches outside it stay).
	rm -rf bin dist _output
