# Tests. Each run leaves its events in _output/test/*.jsonl, from which .ci/run counts.

RESULTS := _output/test
# FUZZTIME is how long each fuzz target runs.
FUZZTIME ?= 30s

# gotest NAME DIRECTORY ARGUMENTS
gotest = mkdir -p $(RESULTS) && cd $(2) && $(TOOL_gotestsum) --format pkgname --format-hide-empty-pkg --jsonfile $(ROOT)/$(RESULTS)/$(1).jsonl -- $(3)

##@ Test

.PHONY: test
test: test-unit test-modules e2e-core ## Unit tests, tests on real mysqld and a real API server, and each promise of the README on a real cluster.
	@echo "test: passed"

# kube-apiserver, etcd and mysqld are real; test/devcluster builds them once per machine.
.PHONY: test-unit
test-unit: $(TOOL_gotestsum) ## Tests of the product's module.
	assets="$${KUBEBUILDER_ASSETS:-$$($(DEVCLUSTER) assets)}"; mysql="$${KEELSON_MYSQL_BIN:-$$($(DEVCLUSTER) mysql-bin)}"; \
	export KUBEBUILDER_ASSETS="$$assets" KEELSON_MYSQL_BIN="$$mysql"; \
	$(call gotest,unit,.,-race -shuffle=on -timeout 20m ./...)

.PHONY: test-modules
test-modules: $(TOOL_gotestsum) ## Unit tests of the modules below test/.
	$(foreach module,$(filter-out .,$(MODULES)),( $(call gotest,$(notdir $(module)),$(module),-race -shuffle=on ./...) );)

# go list cannot name fuzz targets; go test -list does.
.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME; targets are found, not listed.
	go test -list '^Fuzz' ./... | awk '/^Fuzz/ {names[n++] = $$1; next} $$1 == "ok" {for (i = 0; i < n; i++) print $$2, names[i]; n = 0}' | \
	while read -r package name; do \
		echo "== $$package $$name"; \
		go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$package" </dev/null; \
	done
