# Everything that is known without running the product.

VULNDB_DIR = $(dir $(TOOL_vulndb))db
# Nested Go modules that are part of the product's tree (tools/ only pins programs).
MODULES = . $(patsubst %/go.mod,%,$(wildcard test/*/go.mod))

##@ Check

.PHONY: check
check: drift vet lint lint-modules lint-api lint-proto test-imports vulncheck ## Everything short of running the tests.
	@echo "check: passed"

.PHONY: fmt
fmt: $(TOOL_golangci-lint) ## Format the code.
	$(TOOL_golangci-lint) fmt ./...

.PHONY: vet
vet: ## Run go vet, also over what only build tags select.
	go vet ./...
	go vet -tags e2e,bench ./test/...
	go vet -C test/devcluster -tags devcluster ./...

.PHONY: lint
lint: $(TOOL_golangci-lint) ## Lint the code (see .golangci.yml).
	$(TOOL_golangci-lint) run ./...

.PHONY: lint-modules
lint-modules: $(TOOL_golangci-lint) ## Lint the modules below test/ with the same rules.
	$(foreach module,$(filter-out .,$(MODULES)),( cd $(module) && $(TOOL_golangci-lint) run -c $(ROOT)/.golangci.yml ./... );)

.PHONY: lint-fix
lint-fix: $(TOOL_golangci-lint) ## Lint and repair what can be repaired.
	$(TOOL_golangci-lint) run --fix ./...

.PHONY: lint-config
lint-config: $(TOOL_golangci-lint) ## Check the linter's configuration.
	$(TOOL_golangci-lint) config path

.PHONY: lint-api
lint-api: $(TOOL_kube-api-linter) ## Lint the API types (see .golangci-kal.yml).
	$(TOOL_kube-api-linter) run -c .golangci-kal.yml ./api/...

.PHONY: lint-proto
lint-proto: $(TOOL_buf) ## Lint the protocol.
	$(TOOL_buf) lint

.PHONY: test-imports
test-imports: ## Check who imports whom, the architecture picture, the RBAC list and the file headers.
	go test -count=1 ./internal/archtest

# The database is a pinned Go module, since the hosted one may be out of reach where this runs.
$(VULNDB_DIR)/index/modules.json: $(TOOL_vulndb)
	@rm -rf $(VULNDB_DIR).new $(VULNDB_DIR)
	$(TOOL_vulndb) -vulns "$$(go list -C tools/vulndb -m -f '{{.Dir}}' golang.org/x/vulndb)/data/osv" -out $(VULNDB_DIR).new
	@mv $(VULNDB_DIR).new $(VULNDB_DIR)

.PHONY: vulncheck
vulncheck: $(TOOL_govulncheck) $(VULNDB_DIR)/index/modules.json ## Look for known vulnerabilities that the code reaches.
	@mkdir -p _output
	$(TOOL_govulncheck) -format json -db "file://$(VULNDB_DIR)" ./... > _output/vulncheck.json
	go run ./hack/vulncheck hack/vulncheck/accepted.txt < _output/vulncheck.json
