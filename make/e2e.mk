# Tests and measurements on a real Kubernetes. Without E2E_KUBECONFIG they bring up the development cluster.

E2E_KUBECONFIG ?=
E2E_MYSQL_VERSION ?=
# E2E_STORAGE_CLASS is one that enforces sizes and allows growth, where the default one does not.
E2E_STORAGE_CLASS ?=
# RUNS is how often a benchmark measures.
RUNS ?= 5

# on_cluster COMMANDS: brings up the development cluster with the operator on it, unless another is named, then runs them.
on_cluster = hack/on-cluster '$(DEVCLUSTER_NAME)' bash -euo pipefail -c '$(1)'

##@ On a real Kubernetes

.PHONY: quickstart
quickstart: ## From nothing to a replicating MySQL cluster (KUBECONTEXT=… IMAGE_REGISTRY=… for a cluster you have).
	KUBECONTEXT='$(KUBECONTEXT)' IMAGE_REGISTRY='$(if $(KUBECONTEXT),$(IMAGE_REGISTRY))' hack/quickstart

.PHONY: e2e-core
e2e-core: $(TOOL_gotestsum) ## One end-to-end test for each promise of the README.
	$(call on_cluster,$(call gotest,e2e-core,.,-tags e2e -count=1 -timeout 30m -run "^TestCore" ./test/e2e))

.PHONY: e2e
e2e: $(if $(E2E_KUBECONFIG),,test-devcluster) $(TOOL_gotestsum) ## Every end-to-end test, and first what the development cluster promises, when that is used.
	$(call on_cluster,$(call gotest,e2e,.,-tags e2e -count=1 -timeout 120m ./test/e2e))

.PHONY: bench-bootstrap
bench-bootstrap: ## Time from apply to Ready, next to a bare StatefulSet (RUNS=…).
	$(call on_cluster,RUNS=$(RUNS) go test -tags bench -count=1 -timeout 120m -v -run "^TestBootstrap$$" ./test/bench)

.PHONY: cluster-kubeconfig
cluster-kubeconfig:
	@$(DEVCLUSTER) --name '$(DEVCLUSTER_NAME)' kubeconfig

.PHONY: cluster-bin
cluster-bin:
	@$(DEVCLUSTER) assets

# The version that the MySQL tree of this machine really holds.
.PHONY: mysql-version
mysql-version:
	@"$$($(DEVCLUSTER) mysql-bin)/mysqld" --no-defaults --version | sed -E 's/.*Ver ([0-9]+\.[0-9]+\.[0-9]+).*/\1/'

.PHONY: version
version:
	@echo $(VERSION)
