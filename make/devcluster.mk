# The development cluster and the images, without Docker. docs/development-cluster.md explains both.

DEVCLUSTER ?= go run -C test/devcluster ./cmd/devcluster
DEVIMAGES = go run -C test/devcluster ./cmd/images
DEVCLUSTER_NAME ?= dev
DEVCLUSTER_FLAGS = --name '$(DEVCLUSTER_NAME)'
NODES ?= 3
IMAGE_DIR ?= $(CURDIR)/dist/images
# IMAGES are the archives that cluster-load loads. A shell pattern, so that archives which the same run of make has
# just written are found.
IMAGES ?= $(IMAGE_DIR)/*.tar
VERSION ?= 0.1.0
IMG ?= $(OPERATOR_IMAGE):v$(VERSION)
PLATFORMS ?= linux/amd64,linux/arm64
export MYSQL_IMAGE PAUSE_IMAGE

##@ Development cluster

.PHONY: cluster-up
cluster-up: ## Start a Kubernetes of NODES=3 (1 to 7) on this machine (FAST=1: notice dead nodes sooner). Needs root.
	$(DEVCLUSTER) $(DEVCLUSTER_FLAGS) up --nodes $(NODES) $(if $(FAST),--fast)

.PHONY: cluster-down
cluster-down: ## Stop it and leave nothing but its data (PURGE=1: not even that).
	$(DEVCLUSTER) $(DEVCLUSTER_FLAGS) down $(if $(PURGE),--purge)

.PHONY: cluster-load
cluster-load: ## Load what `make images` made (or IMAGES="a.tar b.tar") into its registry.
	$(DEVCLUSTER) $(DEVCLUSTER_FLAGS) load $(abspath $(IMAGES))

.PHONY: cluster-partition
cluster-partition: ## Cut NODE=2 off (DIRECTION=in|out|both, FROM=node1,plane), or HEAL=1.
	$(DEVCLUSTER) $(DEVCLUSTER_FLAGS) partition --node '$(NODE)' $(if $(DIRECTION),--direction $(DIRECTION)) $(if $(FROM),--from $(FROM)) $(if $(HEAL),--heal)

.PHONY: cluster-kill-node
cluster-kill-node: ## Cut the power of NODE=2, or REVIVE=1.
	$(DEVCLUSTER) $(DEVCLUSTER_FLAGS) kill-node --node '$(NODE)' $(if $(REVIVE),--revive)

.PHONY: cluster-status
cluster-status: ## Show its machines.
	$(DEVCLUSTER) $(DEVCLUSTER_FLAGS) status

.PHONY: cluster-reap
cluster-reap: ## Stop whatever killed runs left behind, of all clusters; data stays.
	$(DEVCLUSTER) reap --all

.PHONY: test-devcluster
test-devcluster: ## Show on real nodes what the cluster promises (root, 5 minutes).
	go test -C test/devcluster -tags devcluster -count=1 -v -timeout 30m ./e2e

##@ Images

.PHONY: images
images: images-operator ## Write the images as OCI archives into dist/images, without Docker.
	$(DEVIMAGES) mysql --out '$(IMAGE_DIR)/mysql.tar'

.PHONY: images-operator
images-operator: ## The operator's image only: needs neither root nor Debian's archive.
	$(DEVIMAGES) operator --image '$(IMG)' --version '$(VERSION)' --arch '$(subst linux/,,$(PLATFORMS))' --out '$(IMAGE_DIR)/mysql-operator.tar'

.PHONY: images-local
images-local: ## The same for this machine's architecture only: enough for the development cluster, in half the time.
	$(MAKE) --no-print-directory images PLATFORMS="linux/$$(go env GOARCH)"

.PHONY: images-push
images-push: images-operator ## Push the operator's image, without Docker (IMAGE_REGISTRY=…).
	$(DEVIMAGES) push '$(IMAGE_DIR)/mysql-operator.tar'

.PHONY: docker-daemon
docker-daemon:
	@docker info >/dev/null 2>&1 || { echo "no Docker daemon answers here: use 'make images' (and 'make images-push'), which need none" >&2; exit 1; }

.PHONY: docker-build
docker-build: docker-daemon ## Build the operator's image with Docker.
	docker build --build-arg VERSION='$(VERSION)' --build-arg GO_IMAGE='$(GO_IMAGE)' --build-arg BASE_IMAGE='$(BASE_IMAGE)' -t '$(IMG)' .

.PHONY: docker-push
docker-push: docker-daemon ## Push the operator's image with Docker.
	docker push '$(IMG)'

.PHONY: docker-buildx
docker-buildx: docker-daemon ## Build and push the operator's image for PLATFORMS with Docker.
	docker buildx build --push --platform '$(PLATFORMS)' --build-arg VERSION='$(VERSION)' --build-arg GO_IMAGE='$(GO_IMAGE)' --build-arg BASE_IMAGE='$(BASE_IMAGE)' -t '$(IMG)' .

# The operator's image by digest: a name that means just what was built, so that a node never runs an older one.
.PHONY: image-by-digest
image-by-digest:
	@echo "$(OPERATOR_IMAGE)@$$(tar -xOf '$(IMAGE_DIR)/mysql-operator.tar' index.json | grep -o 'sha256:[0-9a-f]*' | head -n 1)"
