# Everything generated, by pinned tools. Nothing generated is ever edited by hand.

##@ Generate

.PHONY: generate
generate: generate-go manifests generate-proto generate-docs ## Regenerate everything that is generated and committed.

.PHONY: generate-go
generate-go: $(TOOL_controller-gen) ## Deep copies and apply configurations.
	rm -rf api/*/applyconfiguration api/*/zz_generated.deepcopy.go
	$(TOOL_controller-gen) object:headerFile=hack/boilerplate.go.txt applyconfiguration:headerFile=hack/boilerplate.go.txt paths=./api/...

.PHONY: manifests
manifests: $(TOOL_controller-gen) ## Custom resource definitions and RBAC from the markers in the code.
	rm -f config/crd/bases/*.yaml
	$(TOOL_controller-gen) crd paths=./api/... output:crd:artifacts:config=config/crd/bases
	$(TOOL_controller-gen) rbac:roleName=manager-role paths=./internal/... paths=./cmd/... output:rbac:artifacts:config=config/rbac

.PHONY: generate-proto
generate-proto: $(TOOL_buf) $(TOOL_protoc-gen-go) $(TOOL_protoc-gen-go-grpc) ## Go code of the protocol between operator and instances.
	PATH="$(dir $(TOOL_protoc-gen-go)):$(dir $(TOOL_protoc-gen-go-grpc)):$$PATH" $(TOOL_buf) generate

# The tables that a test draws into documents are written by the test itself (go test -update).
.PHONY: generate-docs
generate-docs: $(TOOL_crd-ref-docs) ## Reference pages, and the pictures that tests keep true.
	@mkdir -p docs/reference
	$(TOOL_crd-ref-docs) --source-path=api --config=hack/crd-ref-docs/config.yaml --renderer=markdown --log-level=ERROR --output-path=docs/reference/api.md
	go test ./internal/archtest -count=1 -run '^(TestLayersPicture|TestRBACIsExpected|TestConditionsPage)$$' -update
	go test ./internal/mycnf -count=1 -run '^TestReferencePage$$' -update
	go test ./internal/planner -count=1 -run '^TestTable$$' -update

# drift writes the tree (untracked files too) before and after, so that it can be run on work in progress.
.PHONY: drift
drift: ## Fail when regenerating changes any file.
	hack/drift
